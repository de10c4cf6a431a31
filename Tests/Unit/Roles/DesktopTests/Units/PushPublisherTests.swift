import Hosting
import JSON
import Notifications
import Pairing
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop

/// The host's own calls: each ends exactly once.
@Suite(.timeLimit(.minutes(1))) @EventLoop
struct PushPublisherTests {
    private let ends = Mailbox<Result<HostReply, HostError>>()

    private var then: Then {
        { [ends] end in EventLoop.post { ends.put(end) } }
    }

    @Test("a call ends with its answer, at its deadline or when the desktop closes, and only once")
    func once() async throws {
        let publisher = PushPublisher()
        let notice = try Desktop.Notice(JSONObject(#"{"title":"Tea"}"#))
        let answered = try #require(publisher.notify(notice, timeout: 60_000, then))
        publisher.answered(answered.id, .result(["success": true]))
        publisher.answered(answered.id, .result(["success": false]))
        #expect(try await ends.next().get().value == ["success": true])

        let late = try #require(publisher.notify(notice, timeout: 20, then))
        let open = try #require(publisher.notify(notice, timeout: 60_000, then))
        guard case .failure(let error) = try await ends.next() else { return #expect(Bool(false), "it has an answer") }
        #expect(error.code == .timeout && error.message.contains("stored"))
        publisher.answered(late.id, .result(["success": true]))
        #expect(ends.isEmpty)

        publisher.close()
        guard case .failure(let closed) = try await ends.next() else { return #expect(Bool(false), "it has an answer") }
        #expect(closed.code == .closed)
        publisher.answered(open.id, .result(["success": true]))
        #expect(publisher.notify(notice, timeout: 1, then) == nil)
        guard case .failure(let refused) = try await ends.next() else {
            return #expect(Bool(false), "it has an answer")
        }
        #expect(refused.code == .closed && ends.isEmpty)
    }

    @Test("a shorter timeout fires before a longer one that was asked for earlier")
    func deadlines() async throws {
        let publisher = PushPublisher()
        let names = Mailbox<Int>()
        for (number, timeout) in [(1, 200), (2, 20), (3, 100)] as [(Int, CallTimeout)] {
            _ = publisher.invoke(.getSettings, [:], timeout: timeout) { _ in EventLoop.post { names.put(number) } }
        }
        var order: [Int] = []
        for _ in 0..<3 { order.append(try await names.next()) }
        #expect(order == [2, 3, 1])
    }

    @Test("a notice for one device says whether that one was reached")
    func one() async throws {
        let publisher = PushPublisher()
        let notice = try Desktop.Notice(JSONObject(#"{"title":"Tea","deviceId":"d"}"#))
        for isDelivered in [true, false] {
            let call = try #require(publisher.notify(notice, timeout: 60_000, then))
            publisher.answered(call.id, .result(["delivered": .bool(isDelivered), "notificationId": "n"]))
            let end = try await ends.next().get().value
            #expect(end["deliveredCount"] == (isDelivered ? 1 : 0) && end["failedCount"] == (isDelivered ? 0 : 1))
        }
    }
}
