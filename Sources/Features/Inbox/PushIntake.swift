package import Delivery
import Notifications
import Sealing
package import Store
package import Wire

/// Brings a batch of pushes into the inbox, in one transaction: replay windows, rows, counts, numbers, watermarks.
///
/// Made for one piece of work on the store, over its connection. It may run twice (see `Database`), and changes nothing
/// but the file.
package struct PushIntake<Extra: Sendable> {
    /// What a push brings about besides, in the same transaction, such as its alert.
    package typealias Alongside = @Sendable (Connection, Inbox.Arrival) throws(StoreError) -> Extra?

    package struct Item: Sendable {
        package let item: PushReceiver.Item
        package let alongside: Alongside?

        package init(_ item: PushReceiver.Item, alongside: Alongside? = nil) {
            self.item = item
            self.alongside = alongside
        }
    }

    /// What became of one item.
    package struct Taken: Sendable {
        package let verdict: PushReceiver.Verdict
        package var extra: Extra?
    }

    /// What became of all of them.
    package struct Outcome: Sendable {
        /// One for each item.
        package var taken: [Taken] = []
        /// For the host, in the order of arrival.
        package var waiting = NewlyWaiting()
        /// Unread rows over all desktops.
        package var unread: Int64 = 0
    }

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// - Parameters:
    ///   - hostTakes: the host takes pushes now: these may be handed over right after the commit.
    ///   - hostHasSeen: callbacks may have seen pushes through this arrival that are not marked as handed over.
    ///   - isShared: programs share the device (``InboxPrograms``).
    ///   - pruning: rows that are too old by this are let go.
    package func take(
        _ items: [Item], hostTakes: Bool, hostHasSeen: Int64, isShared: Bool = false,
        pruning: EpochMilliseconds = .max
    ) throws(StoreError) -> Outcome {
        let inbox = Inbox(connection)
        var batch = try PushBatch(inbox, hostHasSeen: hostHasSeen, isShared: isShared)
        var marks = SealMarks(connection)
        var outcome = Outcome()
        outcome.waiting.after = batch.marks.last
        // Desktops of which a numbered item was refused: what comes after it would be a gap.
        var refused: [PeerID] = []
        for item in items {
            let isNumbered = item.item.seq != nil
            guard !isNumbered || !refused.contains(item.item.desktop) else {
                outcome.taken.append(Taken(verdict: .behind))
                continue
            }
            let taken = try take(item, &batch, &marks, &outcome.waiting)
            outcome.taken.append(taken)
            guard isNumbered else { continue }
            switch taken.verdict {
            case .stored, .duplicate, .confirmed:
                if let seq = item.item.seq { try batch.note(seq, of: item.item.desktop) }
            case .full, .replayed, .behind: refused.append(item.item.desktop)
            }
        }
        try batch.finish(hostTakes: hostTakes, pruning: pruning)
        try marks.save()
        outcome.waiting.last = batch.marks.last
        outcome.waiting.offered = batch.marks.offered
        outcome.waiting.droppedThrough = batch.droppedThrough
        outcome.unread = try inbox.counts.unread()
        return outcome
    }

    private func take(
        _ item: Item, _ batch: inout PushBatch, _ marks: inout SealMarks, _ waiting: inout NewlyWaiting
    ) throws(StoreError) -> Taken {
        switch item.item {
        case .skip(let skip): return Taken(verdict: try marks.record(skip.mark) ? .stored : .replayed)
        case .push(let push):
            if let mark = push.mark, try !marks.record(mark) { return Taken(verdict: .replayed) }
            if let number = push.hintNumber, try ReceivedPushes(connection).last(of: push.desktop) >= number {
                // It came in a session before, and may have been deleted since.
                return Taken(verdict: .duplicate)
            }
            let received = try batch.receive(
                push.notification, from: push.desktop, hintNumber: push.hintNumber)
            let extra = try item.alongside.flatMap { (alongside) throws(StoreError) in
                try alongside(connection, received.arrival)
            }
            switch received.arrival {
            case .stored:
                if let entry = received.entry { waiting.add(entry, replacing: received.replaced) }
                return Taken(verdict: .stored, extra: extra)
            case .duplicate: return Taken(verdict: .duplicate, extra: extra)
            case .confirmed: return Taken(verdict: .confirmed, extra: extra)
            case .full: return Taken(verdict: .full, extra: extra)
            }
        }
    }
}

/// Pushes that were stored together, on their way to the host's memory.
package struct NewlyWaiting: Sendable, Equatable {
    package struct Push: Sendable, Equatable {
        package var entry: Inbox.Entry
        /// The pushes that it replaces, by arrival number.
        package let replaced: [Int64: NotificationID]
    }

    /// The last arrival before them, and the last one now.
    package var after: Int64 = 0
    package var last: Int64 = 0
    /// No callback may see a push beyond this arrival before that is committed.
    package var offered: Int64 = 0
    /// What programs had not taken of the pushes through this arrival was dropped (``InboxPrograms/capacity``).
    package var droppedThrough: Int64 = 0
    package private(set) var pushes: [Push] = []

    package init() {}

    mutating func add(_ entry: Inbox.Entry, replacing replaced: [Int64: NotificationID]) {
        pushes.append(Push(entry: entry, replaced: replaced))
    }
}

extension PushReceiver.Item {
    /// `nil` for a push without a number.
    fileprivate var seq: Int64? {
        switch self {
        case .push(let push): push.seq
        case .skip(let skip): skip.through
        }
    }
}
