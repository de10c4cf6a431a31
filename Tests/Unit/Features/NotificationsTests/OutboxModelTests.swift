@testable import Delivery
@testable import History
@testable import Inbox
@testable import Notifications
import Store
import TestSupport
import Testing
import Wire

/// A desktop's outbox, a wire that loses, and a device, with the real tables on both sides.
private final class DeliveryModel {
    private static let device: PeerID = "device"

    private var generator: SeededGenerator
    private let desktop: Database
    private let deviceStore: Database
    private var machine: OutboxStateMachine
    private var now: UInt64 = 1_000

    /// Work that the desktop's store has before it, in order.
    private var work: [() throws -> Void] = []
    private var toDevice: [(frame: OutboxStateMachine.Frame, epoch: Int64)] = []
    private var toDesktop: [(seq: Int64, epoch: Int64, isHello: Bool)] = []
    /// The device names the epochs of what it acknowledges, and the desktop may be put back to a backup.
    private let namesEpochs: Bool
    /// Of the desktop's start.
    private var epoch: Int64 = 1
    /// Of the device's last stored number, and of what it heard last; 0 = before its present start.
    private var storedEpoch: Int64 = 0
    private var heardEpoch: Int64 = 0
    private var hasBackup = false
    private var isConnected = false
    private var isSettling = false
    private var made = 0
    private var skipped: Int64 = 0

    private(set) var received: [String] = []
    /// Taken out before anybody may rely on them.
    private(set) var withdrawn: Set<String> = []

    init(seed: UInt64, namesEpochs: Bool = false) throws {
        self.namesEpochs = namesEpochs
        generator = SeededGenerator(seed: seed)
        desktop = try Database.open(path: ":memory:", migrations: History.migrations).database
        deviceStore = try Database.open(
            path: ":memory:", migrations: Inbox.migrations
        ).database
        machine = OutboxStateMachine(Outbox.Position(last: 0, acknowledged: 0))
    }

    private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    // MARK: The world

    func step() throws {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<25: try enqueue()
        case 25..<45: try runWork()
        case 45..<65: try deliver()
        case 65..<80: try answer()
        case 80..<84: lose()
        case 84..<88: connect()
        case 88..<91: disconnect()
        case 91..<92: perform(machine.heard(now: now))
        case 92..<93: machine.wasCalledAbsent()
        case 93..<94: try restart()
        case 94..<98: try withdraw()
        case 98..<99 where namesEpochs: try backUp()
        case 99 where namesEpochs && chance(50): try restore()
        case 99 where namesEpochs: restartDevice()
        default: pass()
        }
        #expect(machine.sent >= machine.acknowledged && machine.sent <= machine.last)
    }

    /// Nothing is lost any more: everything comes to its end.
    func settle() throws {
        isSettling = true
        connect()
        for _ in 0..<5_000 {
            if work.isEmpty, toDevice.isEmpty, toDesktop.isEmpty {
                if machine.acknowledged == machine.last { return }
                pass()
            }
            if !work.isEmpty { try runWork() }
            if !toDevice.isEmpty { try deliver() }
            if !toDesktop.isEmpty { try answer() }
        }
    }

    func verify(_ seed: UInt64) throws {
        #expect(machine.acknowledged == machine.last, "seed \(seed): something has no end")
        #expect(machine.deadline == nil, "seed \(seed)")
        #expect(Set(received).count == received.count, "seed \(seed): doubled")
        #expect(received == received.sorted(), "seed \(seed): out of order")
        let lost = (0..<made).map(name).filter { !received.contains($0) && !withdrawn.contains($0) }
        #expect(lost.isEmpty, "seed \(seed): lost \(lost)")
        let left = try desktop.run { connection throws(StoreError) in
            try connection.integer("SELECT count(*) FROM outbox")
        }
        #expect(left == 0, "seed \(seed)")
    }

    private func name(_ number: Int) -> String { "n\(10_000 + number)" }

    private func enqueue() throws {
        let event = NotificationEvent(id: NotificationID(name(made)), title: "T")
        made += 1
        work.append { [self] in
            let seqs = try desktop.run { connection throws(StoreError) in
                try Outbox(connection).enqueue(event, to: [.init(Self.device, isSealed: true)], now: 0)
            }
            let seq = try #require(seqs[Self.device])
            var event = event
            event.pushSeq = seq
            perform(machine.enqueued(Outbox.Entry(seq: seq, event: event), now: now))
        }
    }

    private func runWork() throws { if !work.isEmpty { try work.removeFirst()() } }

    private func withdraw() throws {
        guard made > 0 else { return }
        // One of the last: those before have mostly arrived.
        let id = name(Int.random(in: max(0, made - 12)..<made, using: &generator))
        withdrawn.insert(id)
        work.append { [self] in
            try desktop.run { connection throws(StoreError) in try Outbox(connection).withdraw(NotificationID(id)) }
        }
    }

    private func perform(_ actions: [OutboxStateMachine.Action]) {
        for action in actions {
            switch action {
            case .read(let from, let through, let round):
                work.append { [self] in
                    let page = try desktop.run { connection throws(StoreError) in
                        try Outbox(connection).page(of: Self.device, from: from, through: through, now: ExpiryMoment(0))
                    }
                    perform(machine.read(page, round: round, now: now))
                }
            case .send(let frames):
                #expect(machine.presence != .absent)
                guard isConnected, !chance(2) else {
                    if let first = frames.first { machine.unsent(from: first.seq, now: now) }
                    return
                }
                toDevice += frames.map { ($0, epoch) }
                for case .skip(let through) in frames { skipped = max(skipped, through) }
                #expect(machine.sent - max(machine.acknowledged, skipped) <= OutboxStateMachine.window)
            case .settle(let through):
                // Done later, or never, when the desktop dies before.
                work.append { [self] in
                    try desktop.run { connection throws(StoreError) in
                        try Outbox(connection).settle(through: through, by: Self.device)
                    }
                }
            case .recount(let seq):
                work.append { [self] in
                    let position = try desktop.run { connection throws(StoreError) in
                        try Outbox(connection).recount(after: seq, by: Self.device)
                    }
                    perform(machine.renumbered(position, now: now))
                }
            case .renumber(let seq):
                work.append { [self] in
                    let position = try desktop.run { connection throws(StoreError) in
                        try Outbox(connection).acknowledge(through: seq, by: Self.device)
                    }
                    perform(machine.renumbered(position, now: now))
                }
            }
        }
    }

    private func deliver() throws {
        guard !toDevice.isEmpty else { return }
        let (frame, epoch) = toDevice.removeFirst()
        // Dropped on its way, or not stored: a full disk, a relay's limit.
        if !isSettling, chance(6) { return }
        let isDoubled = chance(5)
        let last = try deviceStore.run { connection throws(StoreError) -> (Int64, String?, Bool) in
            let pushes = ReceivedPushes(connection)
            switch frame {
            case .skip(let through):
                let isNew = try through > pushes.last(of: "desktop")
                return (try pushes.skip(through: through, of: "desktop"), nil, isNew)
            case .push(let entry):
                switch try pushes.verdict(on: entry.seq, of: "desktop") {
                case .duplicate(let last), .gap(let last): return (last, nil, false)
                case .next:
                    try pushes.set(entry.seq, of: "desktop")
                    return (entry.seq, entry.event.id.text, true)
                }
            }
        }
        // What a restored desktop sends again has a row in the inbox.
        if let id = last.1, !namesEpochs || !received.contains(id) { received.append(id) }
        heardEpoch = epoch
        if last.2 { storedEpoch = epoch }
        toDesktop.append((last.0, storedEpoch, namesEpochs && storedEpoch != heardEpoch))
        if isDoubled { toDevice.insert((frame, epoch), at: 0) }
    }

    private func answer() throws {
        guard !toDesktop.isEmpty else { return }
        let (seq, epoch, isHello) = toDesktop.removeFirst()
        perform(machine.heard(now: now))
        guard !namesEpochs || epoch == self.epoch else {
            if isHello { perform(machine.recalled(lastPushSeq: seq, now: now)) }
            return
        }
        perform(
            isHello ? machine.hello(lastPushSeq: seq, now: now) : machine.acknowledged(through: seq, now: now))
    }

    /// A connection ends with frames in flight: a tail of what was written is gone.
    private func lose() {
        toDevice.removeLast(Int.random(in: 0...toDevice.count, using: &generator))
        toDesktop.removeLast(Int.random(in: 0...toDesktop.count, using: &generator))
    }

    private func hello() {
        let last = try? deviceStore.run { connection throws(StoreError) in
            try ReceivedPushes(connection).last(of: "desktop")
        }
        toDesktop.append((last ?? 0, storedEpoch, true))
    }

    private func connect() {
        isConnected = true
        perform(machine.connected(now: now))
        if chance(50) { hello() }
    }

    private func disconnect() {
        isConnected = false
        machine.disconnected()
        lose()
    }

    /// The desktop dies: what its store has not committed is gone, and with it whoever waited for it.
    private func restart() throws {
        work = []
        toDevice = []
        let position = try desktop.run { connection throws(StoreError) in
            try Outbox(connection).positions()[Self.device] ?? Outbox.Position(last: 0, acknowledged: 0)
        }
        machine = OutboxStateMachine(position)
        // What was never committed was never made.
        let stored = try desktop.run { connection throws(StoreError) in
            try connection.query("SELECT id FROM outbox_push") { row throws(StoreError) in try row.text(0) }
        }
        for number in 0..<made where !stored.contains(name(number)) && !received.contains(name(number)) {
            withdrawn.insert(name(number))
        }
        isConnected = false
        epoch += 1
        connect()
    }

    private func restartDevice() {
        (storedEpoch, heardEpoch) = (0, 0)
        toDevice = []
        hello()
    }

    private static let tables = ["outbox", "outbox_push", "push_count"]

    private func backUp() throws {
        hasBackup = true
        try desktop.run { connection throws(StoreError) in
            for table in Self.tables {
                try connection.execute("DROP TABLE IF EXISTS temp.backup_\(table)")
                try connection.execute("CREATE TEMP TABLE backup_\(table) AS SELECT * FROM \(table)")
            }
        }
    }

    /// The desktop's state is put back. The device has what came since then under numbers that are given out again.
    private func restore() throws {
        guard hasBackup else { return }
        try desktop.run { connection throws(StoreError) in
            for table in Self.tables { try connection.execute("DELETE FROM \(table)") }
            for table in Self.tables { try connection.execute("INSERT INTO \(table) SELECT * FROM backup_\(table)") }
        }
        try restart()
        // Pushes wait, and the relay says that the device is there, before the device says anything.
        perform(machine.heard(now: now))
        for _ in 0..<Int.random(in: 0...20, using: &generator) { try enqueue() }
        while !work.isEmpty { try runWork() }
    }

    private func pass() {
        now += UInt64.random(in: 1...70_000, using: &generator)
        if let deadline = machine.deadline, deadline <= now { perform(machine.deadlineReached(now: now)) }
    }
}

@Suite struct OutboxModelTests {
    @Test("whatever is lost, doubled, withdrawn or restarted: in order, none lost, none doubled, every entry ends")
    func random() throws {
        for seed in UInt64(1)...60 {
            let model = try DeliveryModel(seed: seed)
            for _ in 0..<400 { try model.step() }
            try model.settle()
            try model.verify(seed)
        }
    }

    @Test("nor is anything lost with a desktop that is put back to a backup, or a device that forgets epochs")
    func restored() throws {
        for seed in UInt64(1)...120 {
            let model = try DeliveryModel(seed: seed, namesEpochs: true)
            for _ in 0..<400 { try model.step() }
            try model.settle()
            try model.verify(seed)
        }
    }
}
