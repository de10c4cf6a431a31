import Glibc
package import Hosting
import JSON
package import Transport

/// A guest's connection to its holder: calls under way, and what the holder tells.
@EventLoop
package final class GuestClient {
    /// A call without an answer.
    package struct PendingCall {
        package let call: HostCall
        package let then: ReplyThen
        /// The holder has said that it does not carry it out.
        package var isRefused = false
    }

    private var link: FrameLink?
    private var lastNumber: UInt64 = 0
    private var calls: [UInt64: PendingCall] = [:]
    private var takes: [UInt64: FeedBatch.Then] = [:]
    private let channel: HostChannel
    private let lost: @EventLoop (HostError?) -> Void

    /// - Parameters:
    ///   - descriptor: a connection whose hello was accepted; owned from here on.
    ///   - lost: called once, when the connection ends without ``close()``.
    package init(
        _ descriptor: CInt, _ channel: HostChannel, lost: @escaping @EventLoop (HostError?) -> Void
    ) throws(TransportError) {
        (self.channel, self.lost) = (channel, lost)
        link = try FrameLink(
            descriptor,
            receive: { [weak self] (frame) throws(HostError) in try self?.received(try HolderMessage(frame)) },
            closed: { [weak self] in self?.lost($0) })
    }

    package func call(_ call: HostCall, then: @escaping ReplyThen) {
        lastNumber &+= 1
        calls[lastNumber] = PendingCall(call: call, then: then)
        send(.call(number: lastNumber, call))
    }

    package func take(_ source: HostEvent.Name, limit: Int, then: @escaping FeedBatch.Then) {
        lastNumber &+= 1
        takes[lastNumber] = then
        send(.take(number: lastNumber, source: source, limit: limit))
    }

    package func finish(_ source: HostEvent.Name, through row: Int64, then: @escaping FeedBatch.Then) {
        lastNumber &+= 1
        takes[lastNumber] = then
        send(.finish(number: lastNumber, source: source, through: row))
    }

    /// The last message, of a program that ends by itself.
    package func leave(seen: [HostEvent.Name: Int64]) { send(.leave(seen: seen)) }

    /// Ends the connection. Returns the calls without an answer, in their order; takes fail.
    package func close() -> [PendingCall] {
        link?.close()
        link = nil
        let (calls, takes) = (calls, takes)
        (self.calls, self.takes) = ([:], [:])
        for (_, then) in takes { then(.failure(.holderLost)) }
        return calls.sorted { $0.key < $1.key }.map(\.value)
    }

    private func send(_ message: GuestMessage) { link?.send(message.object) }

    private func received(_ message: HolderMessage) throws(HostError) {
        switch message {
        case .answer(let number, let result):
            if let then = takes.removeValue(forKey: number) { return then(result.map { _ in FeedBatch() }) }
            guard let pending = calls[number] else { return }
            if case .failure(let error) = result, error.code == HostError.moved.code {
                calls[number]?.isRefused = true
                return
            }
            calls[number] = nil
            pending.then(result)
        case .taken(let number, let batch): takes.removeValue(forKey: number)?(.success(batch))
        case .event(let event): channel.post(event)
        case .waits(let source): channel.waits(source)
        case .welcome, .refused: throw HostError(.undecodable, "a second answer to the hello")
        }
    }
}

extension HostError {
    /// What a call comes to whose holder has ended, and that must not be carried out twice.
    package static let holderLost = HostError(
        .offline, "the program that held the connection ended during the call; the call may have been executed",
        detail: ["reason": "holder_ended"])
}
