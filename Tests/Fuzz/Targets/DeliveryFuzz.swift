@testable import Delivery
import JSON
import Notifications
@testable import OfflineQueue
import Sealing
import Wire

extension FuzzTarget {
    /// A desktop's outbox and a device's receiver over a wire that loses, repeats and reorders: all arrive, once, in
    /// order, and the wire's claims about how far the device is do no harm.
    static let outbox = FuzzTarget("outbox", limit: 1_024) { bytes in
        var world = DeliveryFuzz(FuzzInput(bytes))
        try world.run()
    }

    /// The queue of commands against its rules: at most 100, one of a desktop under way, each leaves once.
    static let offlineQueue = FuzzTarget("offline-queue", limit: 1_024) { bytes in
        var input = FuzzInput(bytes)
        var queue = OfflineQueue()
        var stored: [QueuedCommand] = []
        var ended: [RequestID: Int] = [:]
        var made = 0
        let desktops: [PeerID] = ["a", "b", "c"]
        let methods = NotificationMethod.allCases.filter(\.row.canWait)
        while !input.isEmpty {
            let id = RequestID("\(made == 0 ? 0 : input.number(max(0, made - 12)...made - 1))")
            var change: OfflineQueue.Change
            switch input.choice(12) {
            case 0, 1, 2:
                let method = input.element(methods)
                let params: JSONObject =
                    method.row.queueing == .byField
                    ? input.object(["soundEnabled", "enabled", "quietHours", "quietHoursEnd", "revision"])
                    : ["notificationId": .string(input.element(["x", "y"]))]
                change = queue.add(
                    QueuedCommand(
                        id: RequestID("\(made)"), desktop: input.element(desktops), method: method.name, params: params,
                        createdAt: Int64(made), expiresAt: input.integer()))
                made += 1
            case 3, 4:
                change = OfflineQueue.Change()
                if let next = queue.next(for: input.element(desktops)) {
                    let isBusy = queue.commands.contains { $0.desktop == next.desktop && $0.isSending }
                    try require(!isBusy, "two commands of one desktop at a time")
                    change = queue.begin(next.id)
                }
            case 5: change = queue.answered(id, [:])
            case 6: change = queue.refused(id, QueueFailure("no", "no"))
            case 7: change = queue.unanswered(id, QueueFailure("no", "no"), counts: input.flag())
            case 8: change = queue.expire(now: ExpiryMoment(input.integer()))
            case 9: change = input.flag() ? queue.recover() : queue.retry(input.flag() ? nil : id, now: input.integer())
            case 10:
                change = input.flag() ? queue.remove(id) : queue.clear(before: input.flag() ? nil : input.integer())
            default:
                let desktop = input.element(desktops)
                change = input.flag() ? queue.forget(desktop) : queue.failAll(of: desktop, QueueFailure("no", "no"))
            }
            for write in change.writes {
                switch write {
                case .insert(let command): stored.append(command)
                case .update(let command):
                    guard let index = stored.firstIndex(where: { $0.id == command.id }) else {
                        throw FuzzFinding("a command that was never stored is updated")
                    }
                    stored[index] = command
                case .remove(let id): stored.removeAll { $0.id == id }
                }
            }
            // A failed one may be retried: only one that has left has ended for good.
            for end in change.ends where queue[end.command.id] == nil { ended[end.command.id, default: 0] += 1 }
            try require(stored == queue.commands, "the table is not the queue")
            try require(queue.commands.count <= OfflineQueue.limit, "\(queue.commands.count) commands")
            try require(ended.values.allSatisfy { $0 == 1 }, "a command has left twice")
            for desktop in desktops {
                let sending = queue.commands.count { $0.desktop == desktop && $0.isSending }
                try require(sending <= 1, "\(sending) commands of one desktop under way")
            }
        }
    }
}

private struct DeliveryFuzz {
    private var input: FuzzInput
    private var machine = OutboxStateMachine(Outbox.Position(last: 0, acknowledged: 0))
    private var receiver = PushReceiver()
    private var now: UInt64 = 1_000
    private var entries: [Outbox.Entry] = []
    private var made = 0
    private var reads: [(Int64, Int64, UInt64)] = []
    private var toDevice: [OutboxStateMachine.Frame] = []
    private var toDesktop: [Int64] = []
    private var committing: [PushReceiver.Item]?
    private var stored: [Int64] = []
    private var withdrawn: Set<Int64> = []
    private var isConnected = false
    private var marks: Int64 = 0

    init(_ input: FuzzInput) { self.input = input }

    mutating func run() throws {
        while !input.isEmpty {
            try step()
            try require(machine.sent >= machine.acknowledged && machine.sent <= machine.last, "the numbers cross")
        }
        try settle()
    }

    private mutating func step() throws {
        switch input.choice(14) {
        case 0, 1, 2: enqueue()
        case 3, 4: if !toDevice.isEmpty { receive(toDevice.remove(at: input.choice(min(toDevice.count, 3)))) }
        case 5: if !toDevice.isEmpty { receive(toDevice[input.choice(toDevice.count)]) }
        case 6, 7: commit()
        case 8:
            if !toDesktop.isEmpty { hear(toDesktop.remove(at: input.choice(toDesktop.count)), isHello: input.flag()) }
        case 9: if !reads.isEmpty { read(reads.removeFirst()) }
        case 10:
            isConnected.toggle()
            if isConnected { perform(machine.connected(now: now)) } else { machine.disconnected() }
        case 11:
            toDevice.removeLast(input.choice(toDevice.count + 1))
            if input.flag() { machine.wasCalledAbsent() }
        case 12:
            guard made > 0 else { return }
            let seq = Int64(input.number(1...made))
            withdrawn.insert(seq)
            entries.removeAll { $0.seq == seq }
        default: pass(UInt64(input.element([1, 1_000, 3_000, 70_000])))
        }
    }

    /// Nothing is lost any more.
    private mutating func settle() throws {
        isConnected = true
        perform(machine.connected(now: now))
        hear(receiver.committed(of: "d"), isHello: true)
        for _ in 0..<4_000 {
            while !reads.isEmpty { read(reads.removeFirst()) }
            while !toDevice.isEmpty { receive(toDevice.removeFirst()) }
            while committing != nil { commit(isSure: true) }
            while !toDesktop.isEmpty { hear(toDesktop.removeFirst(), isHello: false) }
            if reads.isEmpty, toDevice.isEmpty, machine.acknowledged == machine.last { break }
            if reads.isEmpty, toDevice.isEmpty, toDesktop.isEmpty { pass(70_000) }
        }
        try require(machine.acknowledged == machine.last, "something never arrives")
        try require(stored == stored.sorted() && Set(stored).count == stored.count, "out of order, or twice: \(stored)")
        let missing = made > 0 ? (1...Int64(made)).filter { !stored.contains($0) && !withdrawn.contains($0) } : []
        try require(missing.isEmpty, "lost: \(missing)")
    }

    private mutating func enqueue() {
        guard made < 300 else { return }
        made += 1
        let entry = Outbox.Entry(seq: Int64(made), event: NotificationEvent(id: NotificationID("n\(made)"), title: "T"))
        entries.append(entry)
        perform(machine.enqueued(entry, now: now))
    }

    private mutating func read(_ wanted: (Int64, Int64, UInt64)) {
        let (from, through, round) = wanted
        let page = entries.filter { $0.seq >= from && $0.seq <= through }
        perform(machine.read(Outbox.Page(from: from, through: through, entries: page), round: round, now: now))
    }

    private mutating func receive(_ frame: OutboxStateMachine.Frame) {
        marks += 1
        let mark = SealMark(peer: "d", epoch: 1, seq: marks)
        switch frame {
        case .push(let entry):
            let notification = Notification(id: entry.event.id, title: "T", createdAt: 1, receivedAt: 1)
            perform(
                receiver.received(
                    ReceivedPush(desktop: "d", notification: notification, seq: entry.seq, mark: mark), now: now))
        case .skip(let through): perform(receiver.received(ReceivedSkip(desktop: "d", through: through, mark: mark)))
        }
    }

    /// The device's store takes all, some or nothing of a commit.
    private mutating func commit(isSure: Bool = false) {
        guard let items = committing else { return }
        committing = nil
        let kind = isSure ? 0 : input.choice(8)
        guard kind != 1 else { return perform(receiver.failed()) }
        var isFull = false
        let verdicts = items.map { item -> PushReceiver.Verdict in
            guard !isFull else { return .behind }
            if kind == 2, input.flag() {
                isFull = true
                return .full
            }
            if case .push(let push) = item, let seq = push.seq { stored.append(seq) }
            return .stored
        }
        perform(receiver.committed(verdicts))
    }

    private mutating func hear(_ seq: Int64, isHello: Bool) {
        perform(machine.heard(now: now))
        perform(isHello ? machine.hello(lastPushSeq: seq, now: now) : machine.acknowledged(through: seq, now: now))
    }

    private mutating func pass(_ time: UInt64) {
        now += time
        if let deadline = machine.deadline, deadline <= now { perform(machine.deadlineReached(now: now)) }
    }

    private mutating func perform(_ actions: [OutboxStateMachine.Action]) {
        for action in actions {
            switch action {
            case .read(let from, let through, let round): reads.append((from, through, round))
            case .send(let frames):
                guard isConnected else {
                    if let first = frames.first { machine.unsent(from: first.seq, now: now) }
                    return
                }
                toDevice += frames
            case .settle(let through): entries.removeAll { $0.seq <= through }
            case .renumber, .recount: break
            }
        }
    }

    private mutating func perform(_ actions: [PushReceiver.Action]) {
        for action in actions {
            switch action {
            case .commit(let items): committing = items
            case .acknowledge(_, let through, _): toDesktop.append(through)
            case .drop: break
            }
        }
    }
}
