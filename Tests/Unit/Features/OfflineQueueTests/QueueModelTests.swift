import JSON
import OfflineQueue
import Store
import TestSupport
import Testing
import Wire

/// The queue against what is promised of it, over random sequences and a clock of its own, with the table beside it.
@Suite struct QueueModelTests {
    private static let methods = ["markAsRead", "markAllAsRead", "delete", "clearAll", "updateSettings"]

    /// What has become of each command: everything that was added is in the queue or has had exactly one last end.
    private struct Ledger {
        var given: [RequestID] = []
        var left: [RequestID: QueueEnd.Outcome] = [:]
        /// These are at their old places, before others that are under way.
        var retried: Set<RequestID> = []

        mutating func book(_ change: OfflineQueue.Change) {
            for end in change.ends {
                if case .failed = end.outcome { continue }
                #expect(left[end.command.id] == nil, "\(end.command.id) has left twice")
                left[end.command.id] = end.outcome
            }
        }
    }

    @Test(
        "random sequences: nothing is lost or doubled, order holds, bounds hold, and the table is what the machine says",
        arguments: Array<UInt64>(0..<24))
    func sequences(of seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let database = try Database.open(path: ":memory:", migrations: QueueTable.migrations).database
        defer { database.close() }
        var queue = OfflineQueue()
        var ledger = Ledger()
        var now: EpochMilliseconds = 1_000_000
        var number = 0
        let desktops: [PeerID] = ["d", "e", "f"]
        for _ in 0..<600 {
            now += EpochMilliseconds.random(in: 0...600_000, using: &random)
            let before = queue
            let change = step(&queue, &ledger, &number, now, desktops, &random)
            ledger.book(change)
            check(queue, before, change, ledger)
            let writes = change
            try database.run { (connection) throws(StoreError) in try QueueTable(connection).save(writes) }
            if Int.random(in: 0..<20, using: &random) == 0 {
                let stored = try database.run { (connection) throws(StoreError) in try QueueTable(connection).load() }
                #expect(stored == queue)
                // A crash: the process comes back with what the table has.
                queue = stored
                let recovered = queue.recover()
                #expect(!queue.commands.contains(where: \.isSending) && recovered.ends.isEmpty)
                try database.run { (connection) throws(StoreError) in try QueueTable(connection).save(recovered) }
            }
        }
        let stored = try database.run { (connection) throws(StoreError) in try QueueTable(connection).load() }
        #expect(stored == queue)
        let there = Set(queue.commands.map(\.id))
        for id in ledger.given { #expect(there.contains(id) != (ledger.left[id] != nil), "\(id)") }
    }

    private func step(
        _ queue: inout OfflineQueue, _ ledger: inout Ledger, _ number: inout Int, _ now: EpochMilliseconds,
        _ desktops: [PeerID], _ random: inout SeededGenerator
    ) -> OfflineQueue.Change {
        let desktop = desktops.randomElement(using: &random) ?? "d"
        let any = queue.commands.randomElement(using: &random)?.id ?? "none"
        let failure = QueueFailure("timeout", "no answer")
        let sending = queue.commands.filter(\.isSending).randomElement(using: &random)?.id ?? any
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45:
            number += 1
            let id = RequestID("\(number)")
            ledger.given.append(id)
            return queue.add(command(id, desktop, now, &random))
        case 45..<68:
            guard let next = queue.next(for: desktop) else { return OfflineQueue.Change() }
            return queue.begin(next.id)
        case 68..<78: return queue.answered(sending, ["success": true])
        case 78..<83: return queue.unanswered(sending, failure, counts: Bool.random(using: &random))
        case 83..<86: return queue.refused(sending, failure)
        case 86..<89: return queue.expire(now: ExpiryMoment(now))
        case 89..<92:
            ledger.retried.formUnion(queue.commands.filter(\.isFailed).map(\.id))
            return queue.retry(Bool.random(using: &random) ? any : nil, now: now)
        case 92..<95: return queue.remove(any)
        case 95..<97: return queue.clear(before: Bool.random(using: &random) ? now - 3_600_000 : nil)
        case 97..<98: return queue.failAll(of: desktop, failure)
        case 98..<99: return queue.forget(desktop)
        default: return queue.recover()
        }
    }

    private func command(
        _ id: RequestID, _ desktop: PeerID, _ now: EpochMilliseconds, _ random: inout SeededGenerator
    ) -> QueuedCommand {
        let method = Self.methods.randomElement(using: &random) ?? ""
        var params: JSONObject = [:]
        switch method {
        case "markAsRead", "delete":
            // Mostly of different ones, so that the queue fills.
            let target = "n\(Int.random(in: 0..<400, using: &random))"
            params = ["notificationId": .string(target), "id": .string(target)]
        case "updateSettings":
            for field in ["enabled", "soundEnabled", "showPreview"] where Bool.random(using: &random) {
                params[field] = .bool(Bool.random(using: &random))
            }
            if params.isEmpty { params["vibrationEnabled"] = true }
        default: break
        }
        // Rarely those that sweep others away.
        let isSweeping = method == "clearAll" || method == "markAllAsRead"
        let name = isSweeping && Int.random(in: 0..<10, using: &random) > 0 ? "delete" : method
        if name != method { params = ["notificationId": .string(id.text), "id": .string(id.text)] }
        return QueuedCommand(
            id: id, desktop: desktop, method: "notification.\(name)", params: params, createdAt: now,
            expiresAt: now + OfflineQueue.lifetime)
    }

    private func check(
        _ queue: OfflineQueue, _ before: OfflineQueue, _ change: OfflineQueue.Change, _ ledger: Ledger
    ) {
        #expect(queue.commands.count <= OfflineQueue.limit)
        let numbers = queue.commands.compactMap { Int($0.id.text) }
        #expect(numbers == numbers.sorted(), "the order is that in which they were given")
        #expect(Set(numbers).count == numbers.count)
        for desktop in Set(queue.commands.map(\.desktop)) {
            let sending = queue.commands.filter { $0.desktop == desktop && $0.isSending }
            #expect(sending.count <= 1, "one under way for each desktop")
            let first = queue.commands.first {
                $0.desktop == desktop && !$0.isFailed && ($0.isSending || !ledger.retried.contains($0.id))
            }
            if let one = sending.first { #expect(one == first, "in order") }
        }
        #expect(queue.commands.allSatisfy { $0.tries <= OfflineQueue.tries })
        if change.isEmpty { #expect(queue == before) }
        for old in before.commands where old.isSending && queue[old.id] == nil {
            // What is under way leaves with its answer, or with its desktop.
            let end = change.ends.first { $0.command.id == old.id }?.outcome
            #expect(end == .done(["success": true]) || end == .removed)
        }
    }
}
