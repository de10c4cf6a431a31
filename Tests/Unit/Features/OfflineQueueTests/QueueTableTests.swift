import Foundation
import JSON
import OfflineQueue
import Store
import Testing
import Wire

@Suite struct QueueTableTests {
    private func open(_ path: String = ":memory:") throws -> Database {
        try Database.open(path: path, migrations: QueueTable.migrations).database
    }

    @Test("what was queued is there after a start, in order, and what was under way waits again")
    func persistence() throws {
        let path = NSTemporaryDirectory() + "bellwire-queue-\(UUID().uuidString).db"
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        var database = try open(path)
        let failure = QueueFailure("denied", "the desktop does not allow it")
        try database.run { (connection) throws(StoreError) in
            let table = QueueTable(connection)
            var queue = try table.load()
            for id in ["3", "1", "2"] { try table.save(queue.add(queued(RequestID(id)))) }
            try table.save(queue.begin("3"))
            try table.save(queue.refused("3", failure))
            try table.save(queue.begin("1"))
            try table.note(revision: 7, of: "d")
            try table.note(revision: 8, of: "d")
        }
        database.close()
        database = try open(path)
        defer { database.close() }
        let (queue, revisions) = try database.run { (connection) throws(StoreError) in
            let table = QueueTable(connection)
            var queue = try table.load()
            try table.save(queue.recover())
            return (queue, try table.revisions())
        }
        #expect(queue.commands.map(\.id) == ["3", "1", "2"])
        #expect(queue["3"]?.state == .failed(failure) && queue["1"]?.isPending == true)
        #expect(queue["1"]?.params == queued("1").params && queue["1"]?.tries == 0)
        #expect(revisions == ["d": 8])
    }

    @Test("a row that cannot be read has failed, and holds up nobody")
    func damaged() throws {
        let database = try open()
        defer { database.close() }
        let queue = try database.run { (connection) throws(StoreError) in
            try connection.execute(
                """
                INSERT INTO queued_command(id, desktop, method, params, created_at, expires_at, state, tries)
                VALUES ('1', 'd', 'notification.delete', 'no JSON {', 0, 1, 'pending', 0)
                """)
            var queue = try QueueTable(connection).load()
            try QueueTable(connection).save(queue.add(queued("2")))
            return try QueueTable(connection).load()
        }
        #expect(queue["1"]?.isFailed == true && queue.next(for: "d")?.id == "2")
    }

    @Test("for hosts each command and each end is an object")
    func json() throws {
        var command = queued("1")
        #expect(command.json["state"] == "pending" && command.json["error"] == nil)
        command.state = .failed(.expired)
        #expect(command.json["error"]?["code"] == "expired")
        #expect(QueueEnd(command, .done(["success": true])).json["result"] == ["success": true])
        #expect(QueueEnd(command, .failed(.expired)).json["error"]?["code"] == "expired")
        #expect(QueueEnd(command, .superseded(by: "2")).json["by"] == "2")
        #expect(QueueEnd(command, .displaced).json["outcome"] == "displaced")
        #expect(QueueEnd(command, .removed).json["outcome"] == "removed")
    }
}
