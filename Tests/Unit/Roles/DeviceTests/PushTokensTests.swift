import Foundation
import Pairing
import Store
import TestSupport
import Testing
import Wire

@testable import Device

/// Which desktop gets which token when (WireSealing, "Push tokens").
@Suite struct PushTokensTests {
    private typealias Removal = PushTokensStateMachine.Removal

    private let a: PeerID = "a"
    private let b: PeerID = "b"
    private let fcm: PushService
    private let apns: PushService
    private let one: PushToken
    private let two: PushToken

    init() throws {
        fcm = try #require(PushService("fcm"))
        apns = try #require(PushService("apns"))
        one = try #require(PushToken(hex: "01"))
        two = try #require(PushToken(hex: "02"))
    }

    private func say(
        _ machine: inout PushTokensStateMachine, to desktop: PeerID, over route: RouteID = "u", now: UInt64 = 0
    )
        -> [PushTokenStatement]
    {
        let due = machine.due(for: desktop)
        for statement in due { machine.wrote(statement, to: desktop, over: [route], now: now) }
        return due
    }

    @Test("each desktop hears each token once every start, and again when it changes")
    func once() {
        var machine = PushTokensStateMachine()
        #expect(machine.due(for: a).isEmpty)
        machine.gave(one, for: fcm)
        machine.gave(two, for: apns)
        #expect(say(&machine, to: a) == [PushTokenStatement(apns, two), PushTokenStatement(fcm, one)])
        #expect(say(&machine, to: a).isEmpty)
        #expect(say(&machine, to: b).count == 2)
        machine.gave(one, for: fcm)
        #expect(say(&machine, to: a).isEmpty)
        machine.gave(two, for: fcm)
        #expect(say(&machine, to: a) == [PushTokenStatement(fcm, two)])
        machine.started()
        #expect(say(&machine, to: a).count == 2)
        #expect(machine.nextDeadline == nil)
    }

    @Test("what no connection took is still due")
    func unwritten() {
        var machine = PushTokensStateMachine()
        machine.gave(one, for: fcm)
        machine.wrote(PushTokenStatement(fcm, one), to: a, over: [], now: 0)
        #expect(machine.due(for: a).count == 1)
    }

    @Test("a desktop that a relay calls absent hears it again, unless another connection carried it too")
    func absent() {
        var machine = PushTokensStateMachine()
        machine.gave(one, for: fcm)
        machine.wrote(PushTokenStatement(fcm, one), to: a, over: ["lan", "wan"], now: 0)
        _ = say(&machine, to: b, over: "lan")
        machine.wasCalledAbsent(a, over: "lan")
        #expect(machine.due(for: a).isEmpty)
        #expect(machine.due(for: b).isEmpty)
        machine.wasCalledAbsent(a, over: "wan")
        #expect(machine.due(for: a).count == 1)
        #expect(machine.due(for: b).isEmpty)
    }

    @Test("what was written just before a connection ended is said again; what settled before is not")
    func disconnected() {
        var machine = PushTokensStateMachine()
        machine.gave(one, for: fcm)
        _ = say(&machine, to: a, now: 1_000)
        machine.disconnected("other", now: 1_001)
        machine.disconnected("u", now: 1_000 + PushTokensStateMachine.settlingTime)
        #expect(machine.due(for: a).isEmpty)
        _ = say(&machine, to: b, now: 5_000)
        machine.disconnected("u", now: 5_000 + PushTokensStateMachine.settlingTime - 1)
        #expect(machine.due(for: a).isEmpty)
        #expect(machine.due(for: b).count == 1)
    }

    @Test("a desktop that comes anew without a sign since hears it again, but not when it was said just now")
    func anew() {
        var machine = PushTokensStateMachine()
        machine.gave(one, for: fcm)
        _ = say(&machine, to: a, now: 10_000)
        machine.cameAnew(a, heardAt: 0, now: 10_001)
        #expect(machine.due(for: a).isEmpty)
        machine.cameAnew(a, heardAt: 10_001, now: 60_000)
        #expect(machine.due(for: a).isEmpty)
        machine.cameAnew(a, heardAt: 9_999, now: 60_000)
        #expect(machine.due(for: a).count == 1)
    }

    @Test("a desktop that is paired anew knows nothing; one that is unpaired is owed nothing")
    func pairing() {
        var machine = PushTokensStateMachine(removals: [Removal(desktop: a, service: apns)])
        machine.gave(one, for: fcm)
        _ = say(&machine, to: a)
        machine.paired(a)
        #expect(machine.due(for: a) == [PushTokenStatement(apns, nil), PushTokenStatement(fcm, one)])
        machine.forget(a)
        #expect(machine.due(for: a) == [PushTokenStatement(fcm, one)])
    }

    @Test("a removal of an earlier run is said, and the store forgets it when it has settled; not before, and once")
    func removal() {
        let removal = Removal(desktop: a, service: fcm)
        var machine = PushTokensStateMachine(removals: [removal])
        #expect(say(&machine, to: b).isEmpty)
        #expect(say(&machine, to: a, now: 100) == [PushTokenStatement(fcm, nil)])
        #expect(machine.nextDeadline == 100 + PushTokensStateMachine.settlingTime)
        #expect(machine.settle(now: 2_099).isEmpty)
        #expect(machine.settle(now: 2_100) == [removal])
        #expect(machine.settle(now: 9_000).isEmpty)
        #expect(machine.nextDeadline == nil)
        #expect(machine.due(for: a).isEmpty)
        machine.forgot(removal)
        #expect(machine.due(for: a).isEmpty)
        machine.started()
        #expect(machine.due(for: a).isEmpty)
    }

    @Test("a removal that was not heard does not settle")
    func unheardRemoval() {
        let removal = Removal(desktop: a, service: fcm)
        var machine = PushTokensStateMachine(removals: [removal])
        _ = say(&machine, to: a, now: 100)
        machine.wasCalledAbsent(a, over: "u")
        #expect(machine.nextDeadline == nil)
        #expect(machine.settle(now: 90_000).isEmpty)
        #expect(say(&machine, to: a, now: 100_000) == [PushTokenStatement(fcm, nil)])
        #expect(machine.settle(now: 102_000) == [removal])
    }

    @Test("a token that is given after its removal takes the removal's place; one taken back after it was said, too")
    func giveAndTake() {
        let removal = Removal(desktop: a, service: fcm)
        var machine = PushTokensStateMachine(removals: [removal])
        _ = say(&machine, to: a, now: 0)
        machine.gave(one, for: fcm)
        #expect(say(&machine, to: a, now: 1) == [PushTokenStatement(fcm, one)])
        #expect(machine.settle(now: 9_000).isEmpty)
        machine.tookBack([removal], of: [fcm])
        #expect(say(&machine, to: a, now: 10_000) == [PushTokenStatement(fcm, nil)])
        #expect(machine.settle(now: 12_000) == [removal])
        // Given again before the store has said that it forgot: that answer is to the question of before.
        machine.gave(two, for: fcm)
        _ = say(&machine, to: a, now: 12_001)
        machine.forgot(removal)
        machine.tookBack([removal], of: [fcm])
        #expect(say(&machine, to: a, now: 12_002) == [PushTokenStatement(fcm, nil)])
        machine.forgot(removal)
        machine.wasCalledAbsent(a, over: "u")
        #expect(machine.due(for: a) == [PushTokenStatement(fcm, nil)])
    }

    /// A desktop as it is, and a network that loses what it says it loses: at the end it knows what the host gave last.
    @Test(
        "whatever is lost and told, every desktop knows the truth in the end", arguments: 1...300 as ClosedRange<UInt64>
    )
    func model(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var machine = PushTokensStateMachine()
        var stored: [Removal] = []
        var given: [PushService: PushToken] = [:]
        var known: [PeerID: [PushService: PushToken]] = [:]
        var now: UInt64 = 0
        let (desktops, services, tokens) = ([a, b], [fcm, apns], [one, two])
        for step in 0..<120 {
            now += UInt64.random(in: 0...3_000, using: &generator)
            let service = services[Int.random(in: 0...1, using: &generator)]
            switch step < 100 ? Int.random(in: 0...7, using: &generator) : 8 {
            case 0:
                let token = tokens[Int.random(in: 0...1, using: &generator)]
                given[service] = token
                stored.removeAll { $0.service == service }
                machine.gave(token, for: service)
            case 1:
                guard given[service] != nil else { continue }
                given[service] = nil
                for desktop in desktops { stored.append(Removal(desktop: desktop, service: service)) }
                machine.tookBack(stored, of: [service])
            case 2:  // The process ends: the host gives its tokens anew.
                machine = PushTokensStateMachine(removals: stored)
                for (service, token) in given { machine.gave(token, for: service) }
            case 3: machine.started()
            case 4:
                for removal in machine.settle(now: now) {
                    stored.removeAll { $0 == removal }
                    machine.forgot(removal)
                }
            case 5, 6:  // Lost, and the relay says so.
                let desktop = desktops[Int.random(in: 0...1, using: &generator)]
                _ = say(&machine, to: desktop, now: now)
                machine.wasCalledAbsent(desktop, over: "u")
            default:
                for desktop in desktops {
                    for statement in say(&machine, to: desktop, now: now) {
                        known[desktop, default: [:]][statement.service] = statement.token
                    }
                }
            }
        }
        for desktop in desktops {
            #expect(known[desktop] ?? [:] == given)
            #expect(machine.due(for: desktop).isEmpty)
        }
    }
}

/// What of the tokens is in the store.
@Suite struct PushTokenTableTests {
    private func store() throws -> Database {
        try Database.open(path: ":memory:", migrations: PairedDesktops.migrations + PushTokenTable.migrations).database
    }

    private func work<T: Sendable>(
        _ store: Database, _ body: @escaping @Sendable (PushTokenTable) throws(StoreError) -> T
    ) throws -> T {
        try store.run { (connection) throws(StoreError) in try body(PushTokenTable(connection)) }
    }

    @Test("there are tokens of 16 services at most; one that is known is no new one")
    func limit() throws {
        let store = try store()
        defer { store.close() }
        for number in 1...16 {
            let service = try #require(PushService("s\(number)"))
            #expect(try work(store) { (table) throws(StoreError) in try table.give(service) })
        }
        let (known, more) = (try #require(PushService("s1")), try #require(PushService("more")))
        #expect(try work(store) { (table) throws(StoreError) in try table.give(known) })
        #expect(try !work(store) { (table) throws(StoreError) in try table.give(more) })
        _ = try work(store) { (table) throws(StoreError) in try table.takeBack(known) }
        #expect(try work(store) { (table) throws(StoreError) in try table.give(more) })
    }

    @Test("no token is ever in the file")
    func noToken() throws {
        let path = NSTemporaryDirectory() + "bellwire-tokens-\(UUID().uuidString).db"
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let store = try Database.open(
            path: path, migrations: PairedDesktops.migrations + PushTokenTable.migrations
        ).database
        let columns = try store.run { (connection) throws(StoreError) in
            try connection.query(
                "SELECT group_concat(name) FROM pragma_table_info('push_service') UNION ALL "
                    + "SELECT group_concat(name) FROM pragma_table_info('push_token_removal')"
            ) { (row) throws(StoreError) in try row.text(0) }
        }
        store.close()
        #expect(columns == ["service", "desktop,service"])
    }
}
