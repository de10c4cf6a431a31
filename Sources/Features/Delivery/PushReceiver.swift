import Notifications
import Sealing
package import Wire

/// Decides what becomes of each push that comes to a device: committed with others, answered, or dropped.
///
/// A pure state machine; `now` is monotonic milliseconds. One commit is under way at a time; what comes meanwhile waits
/// for the next. It knows each desktop's last committed and last accepted number, so a duplicate or a gap is answered
/// from memory (WireSealing, "Delivery of pushes"). Plain pushes, and those of push services, are identified by their
/// ids: the last 256 within 30 s, keyed by desktop and notification, never by a timestamp (WireSealing,
/// "De-duplication"). Older ones are found by the inbox's rows.
///
/// A push that the store refuses frees its number, and every number after it that was accepted: the desktop sends them
/// again in order (go-back-N).
package struct PushReceiver: Sendable {
    /// What came so far, for the host to read.
    package struct Counters: Sendable, Equatable {
        package var admitted: UInt64 = 0
        package var duplicates: UInt64 = 0
        package var malformed: UInt64 = 0
        /// Sealed frames that had an effect before, as the store found.
        package var replayed: UInt64 = 0

        package init() {}
    }

    /// What is committed together, in order.
    package enum Item: Sendable {
        case push(ReceivedPush)
        case skip(ReceivedSkip)
    }

    /// What the store has made of an item.
    package enum Verdict: Sendable, Equatable {
        /// It has a row now; of a skip: it is recorded.
        case stored
        /// It had a row before. Its number counts all the same.
        case duplicate
        /// It had a row before, as a hint, which is confirmed now. Else as a duplicate.
        case confirmed
        /// Too many wait for the host.
        case full
        /// Its seal had an effect before: this one has none.
        case replayed
        /// One before it, from the same desktop, was refused: it was not looked at.
        case behind
    }

    package enum Drop: Sendable, Equatable {
        /// It came before.
        case duplicate
        /// One before it is missing: it comes again.
        case gap
        /// ``limit`` items wait for the store.
        case overflow
        /// Its desktop was unpaired.
        case forgotten
    }

    package enum Action: Sendable {
        /// Commit these, in one transaction, and say what came of it: ``committed(_:)`` or ``failed()``.
        case commit([Item])
        /// Tell the desktop that its pushes through this number are stored.
        case acknowledge(PeerID, through: Int64, over: RouteID?)
        case drop(ReceivedPush, Drop)
    }

    /// Items of one commit.
    package static let batchLimit = 256
    /// Items that may wait, those under way not counted.
    package static let limit = 8_192
    package static let recentLimit = 256
    package static let recentLifetime: UInt64 = 30_000
    /// The same position of an earlier start is told at most once in this time: a desktop answers each with a resend.
    package static let repeatTime: UInt64 = 2_000

    /// How far a desktop's pushes are stored, for the desktop to hear.
    package struct Position: Sendable, Equatable {
        /// 0 = none.
        package let seq: Int64
        /// The desktop's epoch in which that push was sealed; `nil` = it came before this start.
        package let epoch: Int64?
        /// The desktop has sent something in another epoch since then, so it can't take the number for one of its own.
        package let isOfEarlierStart: Bool
    }

    /// How far one desktop's numbers have come.
    private struct Desktop: Sendable {
        let id: PeerID
        /// Tells a desktop that was forgotten and paired again from the one before.
        let round: UInt64
        var committed: Int64
        var accepted: Int64
        /// Of the committed number.
        var epoch: Int64?
        /// Of the numbered frame that came last.
        var heardEpoch: Int64?
        /// The position of an earlier start that was told last.
        var recalled: (seq: Int64, heardEpoch: Int64?, at: UInt64)?

        var position: Position {
            Position(seq: committed, epoch: epoch, isOfEarlierStart: heardEpoch != epoch)
        }
    }

    private struct Waiting: Sendable {
        let item: Item
        /// Of its desktop's entry, when it was accepted; `nil` = it has no number.
        let round: UInt64?
        /// Its id was among the recent ones already, and it is counted as a duplicate.
        var isKnown = false
    }

    /// Few: the paired desktops that number their pushes.
    private var desktops: [Desktop] = []
    private var rounds: UInt64 = 0
    private var recent = RecentPushes(limit: PushReceiver.recentLimit)
    private var waiting: [Waiting] = []
    private var underWay: [Waiting] = []
    package private(set) var counters = Counters()

    /// - Parameter committed: the last stored number of each desktop.
    package init(committed: [(PeerID, Int64)] = []) {
        for (id, last) in committed { _ = place(of: id, committed: last) }
    }

    /// The last push of a desktop that is stored; 0 = none. For the hello that starts its resend.
    package func committed(of desktop: PeerID) -> Int64 {
        desktops.first { $0.id == desktop }?.committed ?? 0
    }

    /// Where a desktop's pushes stand, for an acknowledgement or a hello.
    package func position(of desktop: PeerID) -> Position {
        desktops.first { $0.id == desktop }?.position ?? Position(seq: 0, epoch: nil, isOfEarlierStart: false)
    }

    /// What to answer to a desktop's pushes. `nil` = it was told so a moment ago. The desktop's resends are further apart,
    /// so an answer that was lost is given again.
    package mutating func report(to desktop: PeerID, now: UInt64) -> Position? {
        guard let place = desktops.firstIndex(where: { $0.id == desktop }) else { return nil }
        let (position, heardEpoch) = (desktops[place].position, desktops[place].heardEpoch)
        guard position.isOfEarlierStart else { return position }
        if let last = desktops[place].recalled, last.seq == position.seq, last.heardEpoch == heardEpoch,
            now &- last.at < Self.repeatTime
        {
            return nil
        }
        desktops[place].recalled = (position.seq, heardEpoch, now)
        return position
    }

    // MARK: What comes

    package mutating func received(_ push: ReceivedPush, now: UInt64) -> [Action] {
        guard let seq = push.seq else { return receivedPlain(push, now: now) }
        let place = place(of: push.desktop)
        desktops[place].heardEpoch = push.mark?.start
        let (committed, accepted) = (desktops[place].committed, desktops[place].accepted)
        guard seq > accepted else {
            counters.duplicates &+= 1
            // One that is under way is acknowledged with its commit.
            return [.drop(push, .duplicate)] + (seq <= committed ? [acknowledgement(place, push.route)] : [])
        }
        guard seq - accepted == 1, waiting.count < Self.limit else {
            let drop = Action.drop(push, seq - accepted == 1 ? .overflow : .gap)
            // The desktop hears where it stands; with items under way, after them.
            return [drop] + (committed == accepted ? [acknowledgement(place, push.route)] : [])
        }
        desktops[place].accepted = seq
        let isKnown = !note(push, now: now)
        waiting.append(Waiting(item: .push(push), round: desktops[place].round, isKnown: isKnown))
        return next()
    }

    private mutating func receivedPlain(_ push: ReceivedPush, now: UInt64) -> [Action] {
        guard waiting.count < Self.limit else { return [.drop(push, .overflow)] }
        guard note(push, now: now) else { return [.drop(push, .duplicate)] }
        waiting.append(Waiting(item: .push(push), round: nil))
        return next()
    }

    /// The desktop has nothing more through there.
    package mutating func received(_ skip: ReceivedSkip) -> [Action] {
        let place = place(of: skip.desktop)
        desktops[place].heardEpoch = skip.mark.start
        guard skip.through > desktops[place].accepted else {
            return skip.through <= desktops[place].committed ? [acknowledgement(place, skip.route)] : []
        }
        guard waiting.count < Self.limit else { return [] }
        desktops[place].accepted = skip.through
        waiting.append(Waiting(item: .skip(skip), round: desktops[place].round))
        return next()
    }

    /// An event that cannot be read is dropped. It takes no slot.
    package mutating func droppedMalformed() { counters.malformed &+= 1 }

    // MARK: What the store says

    /// The commit under way is on the disk; one verdict for each of its items.
    package mutating func committed(_ verdicts: [Verdict]) -> [Action] {
        let items = underWay
        underWay = []
        var due: [(place: Int, route: RouteID?)] = []
        var refused: [Int] = []
        for (index, waiting) in items.enumerated() {
            // A missing verdict is the carrier's fault, not a peer's: the item counts as refused.
            let verdict = index < verdicts.count ? verdicts[index] : .behind
            count(waiting, verdict)
            guard let place = placeOf(waiting) else { continue }
            switch verdict {
            case .stored, .duplicate, .confirmed:
                let (number, route) = waiting.item.number
                desktops[place].committed = max(desktops[place].committed, number)
                desktops[place].epoch = waiting.item.epoch
                due.removeAll { $0.place == place }
                due.append((place, route))
            case .full, .replayed, .behind: refused.append(place)
            }
        }
        for place in refused { goBack(place) }
        return due.map { acknowledgement($0.place, $0.route) } + next()
    }

    /// Nothing of the commit under way was stored.
    package mutating func failed() -> [Action] {
        let items = underWay
        underWay = []
        for waiting in items {
            release(waiting)
            if let place = placeOf(waiting) { goBack(place) }
        }
        return next()
    }

    /// Call it when a desktop is unpaired. A later pairing starts from nothing.
    ///
    /// A push that is being stored stays stored but isn't acknowledged; those that wait are dropped. The actions name the
    /// host's calls that were among them.
    package mutating func forget(_ desktop: PeerID) -> [Action] {
        desktops.removeAll { $0.id == desktop }
        return drop(waitingFor: desktop)
    }

    /// Call it when a desktop has taken another key: its numbers go on under that id. What waits for the store is dropped,
    /// and comes again. The actions name the host's calls that were among it.
    package mutating func moved(_ desktop: PeerID, to successor: PeerID) -> [Action] {
        desktops.removeAll { $0.id == successor }
        let actions = drop(waitingFor: desktop)
        guard let place = desktops.firstIndex(where: { $0.id == desktop }) else { return actions }
        let old = desktops[place]
        // The same round: what is under way is stored, and counts.
        let underWay = underWay.lazy.filter { $0.round == old.round }.map { $0.item.number.0 }.max()
        desktops[place] = Desktop(
            id: successor, round: old.round, committed: old.committed, accepted: underWay ?? old.committed,
            epoch: old.epoch, heardEpoch: old.heardEpoch)
        return actions
    }

    // MARK: Inside

    private mutating func drop(waitingFor desktop: PeerID) -> [Action] {
        var actions: [Action] = []
        for waiting in waiting where waiting.item.desktop == desktop {
            release(waiting)
            if case .push(let push) = waiting.item, push.ticket != nil { actions.append(.drop(push, .forgotten)) }
        }
        waiting.removeAll { $0.item.desktop == desktop }
        return actions
    }

    private mutating func next() -> [Action] {
        guard underWay.isEmpty, !waiting.isEmpty else { return [] }
        underWay = Array(waiting.prefix(Self.batchLimit))
        waiting.removeFirst(underWay.count)
        return [.commit(underWay.map(\.item))]
    }

    private func acknowledgement(_ place: Int, _ route: RouteID?) -> Action {
        .acknowledge(desktops[place].id, through: desktops[place].committed, over: route)
    }

    private mutating func place(of desktop: PeerID, committed: Int64 = 0) -> Int {
        if let place = desktops.firstIndex(where: { $0.id == desktop }) { return place }
        rounds &+= 1
        desktops.append(Desktop(id: desktop, round: rounds, committed: committed, accepted: committed))
        return desktops.count - 1
    }

    /// `nil` for what has no number, and for a desktop that was forgotten meanwhile.
    private func placeOf(_ waiting: Waiting) -> Int? {
        guard let round = waiting.round else { return nil }
        return desktops.firstIndex { $0.round == round }
    }

    /// Notes the id. `false` = it came lately.
    private mutating func note(_ push: ReceivedPush, now: UInt64) -> Bool {
        let key = RecentPushes.Key(desktop: push.desktop, id: push.notification.id)
        if let seenAt = recent.touch(key), now &- seenAt < Self.recentLifetime {
            counters.duplicates &+= 1
            return false
        }
        recent.insert(key, at: now)
        counters.admitted &+= 1
        return true
    }

    /// It was not stored: whoever sends it again finds the slot free.
    private mutating func release(_ waiting: Waiting) {
        guard case .push(let push) = waiting.item, !waiting.isKnown else { return }
        counters.admitted &-= 1
        recent.remove(RecentPushes.Key(desktop: push.desktop, id: push.notification.id))
    }

    private mutating func count(_ waiting: Waiting, _ verdict: Verdict) {
        switch verdict {
        case .stored: break
        case .duplicate, .confirmed:
            guard case .push = waiting.item, !waiting.isKnown else { return }
            counters.admitted &-= 1
            counters.duplicates &+= 1
        case .replayed:
            counters.replayed &+= 1
            guard case .push = waiting.item, !waiting.isKnown else { return }
            counters.admitted &-= 1
            counters.duplicates &+= 1
        case .full, .behind: release(waiting)
        }
    }

    /// A number was not stored: what was accepted after it is dropped, and comes again.
    private mutating func goBack(_ place: Int) {
        desktops[place].accepted = desktops[place].committed
        let round = desktops[place].round
        for waiting in waiting where waiting.round == round { release(waiting) }
        waiting.removeAll { $0.round == round }
    }
}

extension PushReceiver.Item {
    package var desktop: PeerID {
        switch self {
        case .push(let push): push.desktop
        case .skip(let skip): skip.desktop
        }
    }

    /// Of the seal that it came in.
    fileprivate var epoch: Int64? {
        switch self {
        case .push(let push): push.mark?.start
        case .skip(let skip): skip.mark.start
        }
    }

    /// What is committed with it, and where it came from.
    fileprivate var number: (Int64, RouteID?) {
        switch self {
        case .push(let push): (push.seq ?? 0, push.route)
        case .skip(let skip): (skip.through, skip.route)
        }
    }
}
