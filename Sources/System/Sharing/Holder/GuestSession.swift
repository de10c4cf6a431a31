import Hosting
import JSON
import Transport

/// One guest, as its holder has it.
@EventLoop
final class GuestSession {
    /// Calls of one guest in progress: as many as a handle may have.
    static let callLimit = 1_024

    let number: StoredFeed.Session
    var link: FrameLink?
    var hello: GuestHello?
    var isAdmitted = false
    /// What it has said at its end.
    var seen: [HostEvent.Name: Int64]?
    /// Calls and takes in progress.
    var calls = 0
    /// Sources of which it knows that there are events to take.
    var told: Set<HostEvent.Name> = []

    init(_ number: StoredFeed.Session) { self.number = number }

    var taker: FeedTaker { hello?.taker ?? FeedTaker("", copy: nil) }

    func send(_ message: HolderMessage) throws(HostError) { try link?.send(message.object) }

    /// What failed because this holder ends has no answer: the guest asks the next one. A result that is too large is an
    /// error for the caller.
    func answer(_ number: UInt64, _ result: Result<HostReply, HostError>) {
        if case .failure(let error) = result, error.code == .closed { return }
        do throws(HostError) { try send(.answer(number: number, result)) } catch {
            try? send(.answer(number: number, .failure(error)))
        }
    }

    /// A batch that is too large has a single event.
    func answer(_ number: UInt64, _ batch: FeedBatch) {
        if (try? send(.taken(number: number, batch))) != nil { return }
        var cut = batch
        cut.events = batch.events.map { WaitingEvent(row: $0.row, event: $0.event.cut()) }
        for event in batch.events { try? send(.event(.cutProblem(event.event.name))) }
        do throws(HostError) { try send(.taken(number: number, cut)) } catch { answer(number, .failure(error)) }
    }

    func tellWaits(_ source: HostEvent.Name) {
        if told.insert(source).inserted { try? send(.waits(source)) }
    }

    func requireAdmitted() throws(HostError) {
        guard isAdmitted else { throw HostError(.undecodable, "a message before the hello was accepted") }
    }
}

extension HostChannel {
    /// A connection was closed for that reason. What an accepted program failed to read is a problem; else it is logged.
    func guestClosed(_ hello: GuestHello?, _ error: HostError) {
        let program = hello.map { "\($0.taker.application) (process \($0.process))" } ?? "a program"
        let message = "the connection of \(program) was closed: \(error.message)"
        guard let hello, error.code == .limit else { return log(.warning, message) }
        problem(
            "guest_closed", message,
            ["application": .string(hello.taker.application), "process": .integer(hello.process)])
    }
}

extension HostEvent {
    /// Leaves out the largest members, so that the event fits into a frame; `"omitted"` names them.
    func cut() -> HostEvent {
        // Of what the frame has beside the data.
        let limit = FrameDecoder.maximumBytes - 65_536
        var data = data
        var omitted: [JSONValue] = []
        var count = JSONValue.object(data).serializedCount
        while count > limit, let first = data.members.first {
            var largest = (key: first.key, bytes: 0)
            for member in data.members {
                let bytes = member.value.serializedCount
                if bytes > largest.bytes { largest = (member.key, bytes) }
            }
            data[largest.key] = nil
            omitted.append(.string(largest.key))
            count -= largest.bytes
        }
        if !omitted.isEmpty { data["omitted"] = .array(omitted) }
        return HostEvent(name, desktop: desktop, data: data)
    }

    static func cutProblem(_ name: Name) -> HostEvent {
        HostEvent(
            .problem,
            data: [
                "code": "event_too_large",
                "message":
                    "an event is too large for a program that shares the state directory; it lacks what \"omitted\" names",
                "event": .string(name.rawValue),
            ])
    }
}
