import Foundation
import JSON
import Store
import Testing

@testable import Hosting

/// Events that are in the store until the host has taken them.
@Suite struct KeptEventsTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("bw-\(UUID().uuidString)")

    private func open() throws -> Database {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return try Database.open(
            path: directory.appendingPathComponent("kept.db").path, migrations: KeptEvents.migrations
        ).database
    }

    private func event(_ number: Int, _ name: HostEvent.Name = .notificationResponse) -> HostEvent {
        HostEvent(name, desktop: number % 2 == 0 ? "desktop" : nil, data: ["number": .integer(Int64(number))])
    }

    private func add(_ numbers: ClosedRange<Int>, _ name: HostEvent.Name = .notificationResponse, to store: Database)
        throws -> Bool
    {
        let events = numbers.map { event($0, name) }
        return try store.run { (connection) throws(StoreError) in
            var isKept = true
            for event in events { isKept = try KeptEvents(connection).add(event) && isKept }
            return isKept
        }
    }

    private func numbers(_ waiting: [WaitingEvent]) -> [Int64?] { waiting.map { $0.event.data["number"]?.integer } }

    private func count(_ name: HostEvent.Name, in store: Database) throws -> Int64 {
        try store.run { (connection) throws(StoreError) in try KeptEvents(connection).count(name) }
    }

    @Test("they come in order, as they were, by name; what was handed over is gone")
    func order() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try open()
        defer { store.close() }
        #expect(try add(1...3, to: store))
        #expect(try add(4...5, .notificationSilent, to: store))
        let responses = KeptEventSource(.notificationResponse, store)
        let taken = try responses.take(limit: 2)
        #expect(numbers(taken) == [1, 2])
        #expect(taken.map(\.event.desktop) == [nil, "desktop"])
        #expect(taken.allSatisfy { $0.event.name == .notificationResponse && $0.event.data["redelivered"] == nil })
        // What is being handed over does not come twice.
        #expect(numbers(try responses.take(limit: 2)) == [3])
        try responses.finish(handed: taken.map(\.row), untouched: [])
        #expect(try responses.take(limit: 10).isEmpty)
        #expect(numbers(try KeptEventSource(.notificationSilent, store).take(limit: 10)) == [4, 5])
    }

    @Test("what nobody was called with waits again as if never taken, in its place")
    func untouched() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try open()
        defer { store.close() }
        _ = try add(1...3, to: store)
        let source = KeptEventSource(.notificationResponse, store)
        let rows = try source.take(limit: 3).map(\.row)
        try source.finish(handed: [rows[0]], untouched: [rows[1], rows[2]])
        let again = try source.take(limit: 3)
        #expect(numbers(again) == [2, 3])
        #expect(again.allSatisfy { $0.event.data["redelivered"] == nil })
    }

    @Test("after a death in dispatch they come again and say so, once for each name; what waited does not say so")
    func death() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let first = try open()
        _ = try add(1...3, to: first)
        _ = try add(4...4, .notificationSilent, to: first)
        #expect(try KeptEventSource(.notificationResponse, first).take(limit: 2).count == 2)
        #expect(try KeptEventSource(.notificationSilent, first).take(limit: 2).count == 1)
        first.close()

        let second = try open()
        defer { second.close() }
        let recovered = try second.run { (connection) throws(StoreError) in
            try KeptEvents(connection).recover(.notificationResponse)
        }
        #expect(recovered == 2)
        #expect(try count(.notificationResponse, in: second) == 3)
        #expect(try count(.notificationSilent, in: second) == 0)
        let again = try KeptEventSource(.notificationResponse, second).take(limit: 10)
        #expect(numbers(again) == [1, 2, 3])
        #expect(again.map { $0.event.data["redelivered"] } == [true, true, nil])
    }

    @Test("when marking has failed, what a callback has seen comes as redelivered, and only that")
    func restore() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try open()
        defer { store.close() }
        _ = try add(1...3, to: store)
        _ = try add(4...4, .notificationSilent, to: store)
        let (responses, silent) = (
            KeptEventSource(.notificationResponse, store), KeptEventSource(.notificationSilent, store)
        )
        let rows = try responses.take(limit: 3).map(\.row)
        #expect(try silent.take(limit: 3).count == 1)
        try responses.restore(untouched: [rows[2]])
        #expect(try responses.take(limit: 3).map { $0.event.data["redelivered"] } == [true, true, nil])
        // Another name's batch may be under way: it is not touched.
        #expect(try silent.take(limit: 3).isEmpty)
    }

    @Test(
        "10,000 of a name are kept: the oldest that waits gives way, what is being handed over stays, others are safe")
    func bound() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try open()
        defer { store.close() }
        let capacity = Int(KeptEvents.capacity)
        _ = try add(1...1, .notificationResponse, to: store)
        #expect(try add(1...1, .notificationSilent, to: store))
        let source = KeptEventSource(.notificationSilent, store)
        let first = try source.take(limit: 1)
        #expect(try add(2...(capacity + 1), .notificationSilent, to: store))
        #expect(try !add((capacity + 2)...(capacity + 3), .notificationSilent, to: store))
        #expect(try count(.notificationSilent, in: store) == KeptEvents.capacity)
        #expect(numbers(try source.take(limit: 1)) == [4])
        try source.finish(handed: [], untouched: first.map(\.row))
        #expect(numbers(try source.take(limit: 1)) == [1])
        #expect(try count(.notificationResponse, in: store) == 1)
    }

    @Test(
        "data of every kind comes back as it was",
        arguments: [
            #"{}"#, #"{"text":"a\u0000b \ud83d\ude00 <img src=x>","n":-9007199254740993,"list":[null,true,{"a":[]}]}"#,
        ])
    func data(_ json: String) throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let store = try open()
        defer { store.close() }
        let data = try #require(try JSONValue(parsing: json).object)
        try store.run { (connection) throws(StoreError) in
            _ = try KeptEvents(connection).add(HostEvent(.notificationSilent, data: data))
        }
        #expect(try KeptEventSource(.notificationSilent, store).take(limit: 1).first?.event.data == data)
    }
}
