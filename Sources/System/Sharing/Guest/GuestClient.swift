import Glibc
package import Hosting
import JSON
package import Transport

/// A guest's connection to its holder: calls under way, and what the holder tells.
@EventLoop
package final class GuestClient {
    /// A call without an answer.
    package struct PendingCall {
        package let then: Then
        /// For the end of the connection: whether ``isRefused``.
        package let lost: @EventLoop (Bool) -> Void
        /// The holder has said that it does not carry it out.
        package var isRefused = false
    }

    private struct PendingTake {
        let source: HostEvent.Name
        /// `nil` = nobody waits for it any more; its events come again.
        var then: FeedBatch.Then?
    }

    /// How often to look whether the holder answers: while it owes an answer, and while it does not. In milliseconds.
    private static let interval: UInt64 = 1_000
    private static let idleInterval: UInt64 = 30_000

    private var link: FrameLink?
    private var lastNumber: UInt64 = 0
    private var calls: [UInt64: PendingCall] = [:]
    private var takes: [UInt64: PendingTake] = [:]
    /// What answers began that came too late, for the next take.
    private var begun: [HostEvent.Name: FeedBatch.Beginning] = [:]
    private var pulse = HolderPulse()
    /// The look is due after ``interval``.
    private var isWatched = false
    private lazy var watch = LoopTimer { [weak self] in self?.look() }
    private let holder: HolderProcess
    private let channel: HostChannel
    private let lost: @EventLoop (HostError?) -> Void
    private let silent: @EventLoop (HostError?) -> Void

    /// - Parameters:
    ///   - descriptor: a connection whose hello was accepted; owned from here on.
    ///   - lost: called once, when the connection ends without ``close()``.
    ///   - silent: called again and again while the holder does not answer, and with `nil` when it does again.
    package init(
        _ descriptor: CInt, _ channel: HostChannel, lost: @escaping @EventLoop (HostError?) -> Void,
        silent: @escaping @EventLoop (HostError?) -> Void
    ) throws(TransportError) {
        (self.channel, self.lost, self.silent) = (channel, lost, silent)
        holder = HolderProcess(of: descriptor)
        link = try FrameLink(
            descriptor,
            receive: { [weak self] (frame, _) throws(HostError) in try self?.received(try HolderMessage(frame)) },
            closed: { [weak self] in self?.lost($0) })
        watch.start(after: Self.idleInterval)
    }

    /// - Parameter lost: called instead of `then`, when ``close()`` has returned the call.
    package func call(_ call: HostCall, then: @escaping Then, lost: @escaping @EventLoop (Bool) -> Void) {
        // It is not sent: nobody would expect it any more when it is carried out.
        if pulse.isSilent { return then(.failure(holder.silence(mayHappen: false))) }
        lastNumber &+= 1
        calls[lastNumber] = PendingCall(then: then, lost: lost)
        do throws(HostError) { try send(.call(number: lastNumber, call)) } catch {
            calls.removeValue(forKey: lastNumber)?.then(.failure(error))
        }
    }

    /// Gives nothing while the holder is silent.
    package func take(_ source: HostEvent.Name, limit: Int, asCopy: Bool, then: @escaping FeedBatch.Then) {
        if pulse.isSilent { return then(.success(FeedBatch())) }
        lastNumber &+= 1
        send(.take(number: lastNumber, source: source, limit: limit, asCopy: asCopy), source, then)
    }

    package func finish(
        _ source: HostEvent.Name, through row: Int64, asCopy: Bool, then: @escaping FeedBatch.Then
    ) {
        lastNumber &+= 1
        send(.finish(number: lastNumber, source: source, through: row, asCopy: asCopy), source, then)
        // The program remembers what it was given, and the holder reads this when it goes on.
        if pulse.isSilent { expire() }
    }

    /// The last message, of a program that ends by itself.
    package func leave(seen: [HostEvent.Name: Int64]) { try? send(.leave(seen: seen)) }

    /// Ends the connection. Returns the calls without an answer, in their order; takes fail with that error.
    package func close(_ error: HostError = .holderLost) -> [PendingCall] {
        watch.stop()
        link?.close()
        link = nil
        let (calls, takes) = (calls, takes)
        (self.calls, self.takes) = ([:], [:])
        for (_, take) in takes { take.then?(.failure(error)) }
        return calls.sorted { $0.key < $1.key }.map(\.value)
    }

    private func send(_ message: GuestMessage, _ source: HostEvent.Name, _ then: @escaping FeedBatch.Then) {
        takes[lastNumber] = PendingTake(source: source, then: then)
        do throws(HostError) { try send(message) } catch {
            takes.removeValue(forKey: lastNumber)?.then?(.failure(error))
        }
    }

    /// Errors: `limit` for a message that is too large, or while too much waits for the holder to read it.
    private func send(_ message: GuestMessage) throws(HostError) {
        let frame = try FrameDecoder.encode(message.object)
        if let link {
            guard link.outgoingBytes + frame.count <= FrameLink.outgoingLimit else {
                throw HostError(.limit, "too many bytes wait for the program that holds the state directory")
            }
            link.send(frame)
        }
        guard !isWatched, link != nil else { return }
        isWatched = true
        watch.start(after: Self.interval)
    }

    private func received(_ message: HolderMessage) throws(HostError) {
        if pulse.heard() { silent(nil) }
        switch message {
        case .answer(let number, let result):
            if let take = takes.removeValue(forKey: number) { take.then?(result.map { _ in FeedBatch() }) }
            guard let pending = calls[number] else { return }
            if case .failure(let error) = result, error.code == HostError.moved.code {
                calls[number]?.isRefused = true
                return
            }
            calls[number] = nil
            pending.then(result)
        case .taken(let number, var batch):
            guard let take = takes.removeValue(forKey: number) else { return }
            batch.begins = batch.begins ?? begun[take.source]
            begun[take.source] = take.then == nil ? batch.begins : nil
            take.then?(.success(batch))
        case .event(let event): channel.post(event)
        case .waits(let source): channel.waits(source)
        case .welcome, .refused: throw HostError(.undecodable, "a second answer to the hello")
        }
    }

    // MARK: Whether the holder answers

    private func look() {
        switch pulse.tick() {
        case .wait: break
        case .ask: try? send(.ping)
        case .silent:
            expire()
            silent(holder.silence(mayHappen: false))
        }
        // It may have ended the connection.
        guard link != nil else { return }
        isWatched = pulse.isWaiting || !calls.isEmpty || !takes.isEmpty
        watch.start(after: isWatched ? Self.interval : Self.idleInterval)
    }

    /// Ends the waits for a holder that does not answer.
    private func expire() {
        let expired = calls.sorted { $0.key < $1.key }.map(\.value)
        calls = [:]
        for pending in expired { pending.then(.failure(holder.silence(mayHappen: !pending.isRefused))) }
        for number in takes.keys {
            let then = takes[number]?.then
            takes[number]?.then = nil
            then?(.success(FeedBatch()))
        }
    }
}

extension HostError {
    /// What a call comes to whose holder has ended, and that must not be carried out twice.
    package static var holderLost: Self {
        HostError(
            .offline, "the program that held the connection ended during the call; the call may have been executed",
            detail: ["reason": "holder_ended"])
    }
}
