import JSON
import TestSupport
import Testing
import Wire

@testable import Commands

@Suite struct PendingCallsTests {
    private func add(
        _ calls: inout PendingCalls<Int>, _ id: RequestID, to desktop: PeerID = "d", deadline: UInt64 = 100,
        waiter: Int = 0
    ) -> CommandError.Code? {
        switch calls.add(id, to: desktop, method: "m", deadline: deadline, waiter: waiter) {
        case .send: nil
        case .refuse(let error): error.code
        }
    }

    @Test("an answer completes its call once; a second one is stray")
    func resolve() {
        var calls = PendingCalls<Int>()
        #expect(add(&calls, "r", waiter: 7) == nil)
        let response = CommandResponse(id: "r", outcome: .result(["success": true]))
        guard case .complete(let call, .success(let result)) = calls.resolve(response, from: "d") else {
            Issue.record("not completed")
            return
        }
        #expect(call.waiter == 7)
        #expect(result == ["success": true])
        guard case .ignore = calls.resolve(response, from: "d") else { Issue.record("completed twice"); return }
        #expect(calls.strayResponses == 1)
        #expect(calls.nextDeadline == nil)
    }

    @Test("an answer from another desktop than the one that was asked is stray")
    func foreign() {
        var calls = PendingCalls<Int>()
        _ = add(&calls, "r")
        guard case .ignore = calls.resolve(CommandResponse(id: "r", outcome: .result([:])), from: "other") else {
            Issue.record("completed by a stranger")
            return
        }
        #expect(calls.count == 1)
    }

    @Test("a peer's refusal is a mapped error with the peer's words")
    func remoteError() {
        var calls = PendingCalls<Int>()
        _ = add(&calls, "r")
        let refusal = RemoteError(.denied, "no")
        guard
            case .complete(_, .failure(let error)) = calls.resolve(
                CommandResponse(id: "r", outcome: .error(refusal)), from: "d")
        else { Issue.record("not completed"); return }
        #expect(error.code == .denied)
        #expect(error.remote == refusal)
    }

    @Test("an absent desktop fails all calls to it, and no other")
    func peerOffline() {
        var calls = PendingCalls<Int>()
        for (id, desktop): (RequestID, PeerID) in [("1", "a"), ("2", "b"), ("3", "a")] {
            _ = add(&calls, id, to: desktop)
        }
        #expect(calls.peerOffline("a").map(\.id) == ["1", "3"])
        #expect(calls.count == 1)
        #expect(calls.peerOffline("a").isEmpty)
    }

    @Test("a deadline is met at its moment, the earliest first")
    func expire() {
        var calls = PendingCalls<Int>()
        for (id, deadline): (RequestID, UInt64) in [("1", 30), ("2", 10), ("3", 20)] {
            _ = add(&calls, id, deadline: deadline)
        }
        #expect(calls.nextDeadline == 10)
        #expect(calls.expire(now: 9).isEmpty)
        #expect(calls.expire(now: 20).map(\.id) == ["2", "3"])
        #expect(calls.nextDeadline == 30)
        #expect(calls.expire(now: .max).map(\.id) == ["1"])
    }

    @Test("too many calls, an id twice, and a closed table are refused by name")
    func refusals() {
        var calls = PendingCalls<Int>(limit: 2)
        #expect(add(&calls, "1") == nil)
        #expect(add(&calls, "1") == .duplicateID)
        #expect(add(&calls, "2") == nil)
        #expect(add(&calls, "3") == .tooMany)
        #expect(Set(calls.close().map(\.id)) == ["1", "2"])
        #expect(add(&calls, "4") == .closed)
        #expect(calls.close().isEmpty)
    }

    /// A model that is too simple to be wrong: a list.
    private struct Model {
        var calls: [(id: String, desktop: String, deadline: UInt64)] = []

        mutating func take(where condition: ((id: String, desktop: String, deadline: UInt64)) -> Bool) -> Set<String> {
            let taken = calls.filter(condition)
            calls.removeAll(where: condition)
            return Set(taken.map(\.id))
        }
    }

    @Test("over random sequences each call leaves exactly once, as a list says it should", arguments: 1...200)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var calls = PendingCalls<String>(limit: 8)
        var model = Model()
        var now: UInt64 = 0
        var left: [String] = []
        for step in 0..<300 {
            let id = "\(Int.random(in: 0..<12, using: &random))"
            let desktop = ["a", "b", "c"].randomElement(using: &random) ?? "a"
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<6:
                let deadline = now + UInt64.random(in: 0..<40, using: &random)
                let isNew = !model.calls.contains { $0.id == id } && model.calls.count < 8
                switch calls.add(RequestID(id), to: PeerID(desktop), method: "m", deadline: deadline, waiter: id) {
                case .send:
                    #expect(isNew)
                    model.calls.append((id, desktop, deadline))
                case .refuse: #expect(!isNew)
                }
            case 6, 7:
                let expected = model.take { $0.id == id && $0.desktop == desktop }
                let response = CommandResponse(id: RequestID(id), outcome: .result([:]))
                switch calls.resolve(response, from: PeerID(desktop)) {
                case .complete(let call, _):
                    #expect(expected == [call.waiter])
                    left.append(call.waiter)
                case .ignore: #expect(expected.isEmpty)
                }
            case 8:
                let taken = calls.cancel(RequestID(id)).map { [$0.waiter] } ?? []
                #expect(Set(taken) == model.take { $0.id == id })
                left += taken
            case 9 where step % 5 == 0:
                let taken = calls.peerOffline(PeerID(desktop)).map(\.waiter)
                #expect(Set(taken) == model.take { $0.desktop == desktop })
                left += taken
            case _:
                now += UInt64.random(in: 0..<20, using: &random)
                let taken = calls.expire(now: now).map(\.waiter)
                #expect(Set(taken) == model.take { $0.deadline <= now })
                left += taken
            }
            #expect(calls.count == model.calls.count)
            if let earliest = model.calls.map(\.deadline).min() {
                // A wake-up may come early, never late.
                #expect((calls.nextDeadline ?? .max) <= earliest)
            } else {
                #expect(calls.nextDeadline == nil)
            }
        }
        #expect(Set(calls.close().map(\.waiter)) == model.take { _ in true })
        #expect(!left.isEmpty)
    }
}
