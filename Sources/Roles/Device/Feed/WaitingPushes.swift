import Hosting
import Inbox
import JSON
import Notifications
import Sharing
import Store
import Synchronization
import Wire

/// The pushes in the inbox that the program has not taken, in the order in which they came.
///
/// The store's thread puts them in right after their commit, and the program's thread takes them from memory: bounded, and
/// beyond the bound read from the table. Taking writes nothing, unless more are taken than the table says were offered;
/// `finish` commits once for a dispatch.
///
/// It is the same for a program that has the device to itself and for the one that holds a shared device; only the marks
/// of what was handed over are in different tables.
final class WaitingPushes: LocalFeed {
    /// Where the marks are.
    enum Reader: Sendable {
        /// Of a program that has the device to itself: `HostHandover`.
        case host
        /// Of one that shares it, by its name: `InboxPrograms`.
        case program(String)
    }

    let name = HostEvent.Name.notificationReceived
    private let database: Database
    private let state: Mutex<State>
    private let mark: HandoverMark?

    /// Pushes in memory, and the bytes of their texts.
    static let limit = 1_024
    static let byteLimit = 1 << 20
    /// How long the mark of a dispatch may wait for the next push's transaction, in milliseconds: in a row of pushes each
    /// then costs one disk sync instead of two. The pushes behind it aren't delayed: theirs is that transaction.
    private static let finishDelay: UInt64 = 2
    /// Rows of one look into the table.
    private static let readLimit = 256

    fileprivate struct Push {
        let entry: Inbox.Entry
        let bytes: Int
    }

    fileprivate struct State {
        /// `nil` = of a shared device, whose program has not begun to take.
        var reader: Reader?
        /// In memory: those that follow what was taken, without a gap.
        var pushes: [Push] = []
        var bytes = 0
        /// By arrival: pushes in the table alone that replace one that the host has taken, where the table doesn't say
        /// so. At most ``WaitingPushes/limit``; beyond that, such a push is a new one to the host.
        var replaces: [Int64: NotificationID] = [:]
        /// Handed to `take` and not finished, the oldest first.
        var taken: [Inbox.Entry] = []
        /// Of all that were ever taken.
        var takenThrough: Int64
        /// The last one that is in memory or was taken; all of the table up to there is.
        var knownThrough: Int64
        /// The last one that is in the table, as far as was told.
        var storedThrough: Int64
        /// No callback may see one beyond this before that is committed.
        var offered: Int64
        /// What comes through here may have been seen already: by an earlier run, or before `finish` failed.
        var redeliveredThrough: Int64
        /// The host takes what comes.
        var isTaking = false
        /// Pushes were dropped before the program got them.
        var hasDropped = false
    }

    /// For a program that has the device to itself.
    ///
    /// - Parameters:
    ///   - marks: as the table has them at opening.
    ///   - mark: what callbacks have seen of what was offered; `nil` = all of it.
    init(_ database: Database, _ marks: Inbox.Watermarks, mark: HandoverMark? = nil) {
        (self.database, self.mark) = (database, mark)
        state = Mutex(
            State(
                reader: .host, takenThrough: marks.handed, knownThrough: marks.handed, storedThrough: marks.last,
                offered: marks.offered,
                redeliveredThrough: mark?.begin(handed: marks.handed, offered: marks.offered) ?? marks.offered))
    }

    /// For programs that share the device: nothing is kept in memory before ``begin(as:_:)``.
    ///
    /// - Parameter last: the newest push.
    init(shared database: Database, last: Int64) {
        (self.database, mark) = (database, nil)
        state = Mutex(
            State(
                takenThrough: last, knownThrough: last, storedThrough: last, offered: last, redeliveredThrough: 0))
    }

    /// What its callbacks have seen of this, the program knows by itself (`FeedSource`).
    func begin(as application: String, _ marks: FeedMarks) {
        state.withLock { state in
            state = State(
                reader: .program(application), takenThrough: marks.handed, knownThrough: marks.handed,
                storedThrough: max(state.storedThrough, marks.handed),
                offered: max(marks.offered, marks.handed &+ InboxPrograms.offeredAhead), redeliveredThrough: 0)
        }
    }

    var isInUse: Bool { state.withLock { $0.reader != nil } }

    // MARK: The store's side

    /// Pushes were stored by another way than ``stored(_:)``: they are in the table alone. From any thread.
    func stored(through arrival: Int64) {
        state.withLock { $0.storedThrough = max($0.storedThrough, arrival) }
    }

    /// For a piece of work that stores pushes: what the host does.
    var place: (hostTakes: Bool, hostHasSeen: Int64) {
        state.withLock { ($0.isTaking, $0.takenThrough) }
    }

    /// On the store's thread, right after a commit, in the order of the commits.
    func stored(_ new: NewlyWaiting) {
        state.withLock { state in
            guard state.reader != nil else { return state.storedThrough = max(state.storedThrough, new.last) }
            state.offered = max(state.offered, new.offered)
            state.drop(through: new.droppedThrough)
            // What came before them may be in the table alone; then so are they.
            var follows = state.knownThrough >= new.after
            for push in new.pushes {
                var entry = push.entry
                for (arrival, id) in push.replaced.sorted(by: { $0.key < $1.key }) {
                    let seen = state.replace(arrival, id)
                    entry.replaces = entry.replaces ?? seen
                }
                let bytes = entry.notification.textBytes
                follows = follows && state.pushes.count < Self.limit && state.bytes + bytes <= Self.byteLimit
                if follows {
                    state.append(Push(entry: entry, bytes: bytes))
                } else if push.entry.replaces == nil, let seen = entry.replaces, state.replaces.count < Self.limit {
                    state.replaces[entry.arrival] = seen
                }
            }
            if follows { state.knownThrough = max(state.knownThrough, new.last) }
            state.storedThrough = max(state.storedThrough, new.last)
        }
    }

    /// At a clean end, in the last piece of work: what was offered and never taken is new the next time.
    func withdrawOffer(_ connection: Connection) throws(StoreError) {
        let (reader, seen) = state.withLock { ($0.reader, max($0.takenThrough, $0.redeliveredThrough)) }
        guard case .host = reader else { return }
        try Inbox(connection).handover.withdrawOffer(beyond: seen)
    }

    // MARK: The host's side

    func take(limit: Int) throws(HostError) -> [WaitingEvent] {
        // Fewer than asked for means that no more wait.
        while state.withLock({ $0.pushes.count < limit && $0.knownThrough < $0.storedThrough }) { try read(limit) }
        try offer(limit)
        let taken = state.withLock { state -> [(Inbox.Entry, Bool)] in
            state.isTaking = true
            // Pushes stored since the offer may be in memory without being offered. They come with the next take: whoever
            // stores pushes says afterwards that they wait.
            let entries = state.pushes.prefix(limit).map(\.entry).prefix { [offered = state.offered] in
                $0.arrival <= offered
            }
            state.bytes -= state.pushes.prefix(entries.count).reduce(0) { $0 + $1.bytes }
            state.pushes.removeFirst(entries.count)
            state.taken += entries
            if let last = entries.last { state.takenThrough = max(state.takenThrough, last.arrival) }
            return entries.map { ($0, $0.arrival <= state.redeliveredThrough) }
        }
        if !taken.isEmpty { FailPoint.beforeHandOver.reach() }
        return taken.map { entry, isRedelivered in entry.event(redelivered: isRedelivered) }
    }

    func takeDropped() throws(HostError) -> Int64 {
        let reader = state.withLock { state -> Reader? in
            defer { state.hasDropped = false }
            return state.hasDropped ? state.reader : nil
        }
        guard case .program(let application) = reader else { return 0 }
        return try run { (connection) throws(StoreError) in try InboxPrograms(connection).takeDropped(application) }
    }

    func willHandOver(_ row: Int64) { mark?.note(row) }

    func finish(handed: [Int64], untouched: [Int64]) throws(HostError) {
        if let through = handed.max() {
            FailPoint.beforeMark.reach()
            let (reader, next) = state.withLock { state in
                // What the next dispatches take, without a commit of their own.
                (state.reader, state.pushes.prefix(Int(Inbox.offeredLimit)).last?.entry.arrival ?? state.takenThrough)
            }
            let offered = try run(within: Self.finishDelay) { (connection) throws(StoreError) in
                switch reader {
                case .host: try HostHandover(connection).finish(through: through, offering: next)
                case .program(let name): try InboxPrograms(connection).finish(name, through: through) ?? through
                case nil: through
                }
            }
            FailPoint.afterMark.reach()
            state.withLock { $0.offered = max($0.offered, offered) }
        }
        state.withLock { $0.putBack { untouched.contains($0.arrival) } }
    }

    func restore(untouched: [Int64]) throws(HostError) {
        state.withLock { state in
            // That a callback may have seen the others is in the table since before it ran.
            let seen = state.taken.last { !untouched.contains($0.arrival) }
            if let seen { state.redeliveredThrough = max(state.redeliveredThrough, seen.arrival) }
            state.putBack { _ in true }
        }
    }

    /// Takes up what memory lacks; each time it comes further.
    private func read(_ limit: Int) throws(HostError) {
        let after = state.withLock { $0.knownThrough }
        let (entries, last) = try run { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            return (try inbox.pushes(after: after, limit: Self.readLimit), try inbox.handover.watermarks().last)
        }
        state.withLock { state in
            // Nobody else adds to it while something is missing.
            guard state.knownThrough == after else { return }
            defer { state.replaces = state.replaces.filter { [known = state.knownThrough] in $0.key > known } }
            for var entry in entries {
                entry.replaces = entry.replaces ?? state.replaces[entry.arrival]
                let bytes = entry.notification.textBytes
                guard state.pushes.count < limit || state.bytes + bytes <= Self.byteLimit else { return }
                state.append(Push(entry: entry, bytes: bytes))
            }
            // What is not in the table any more is not waited for.
            if entries.count < Self.readLimit { state.knownThrough = max(state.knownThrough, last) }
            state.storedThrough = max(state.storedThrough, state.knownThrough)
        }
    }

    /// Before callbacks see more than the table says they may have seen. Rare: pushes are offered as they are stored, or
    /// by the dispatch before.
    private func offer(_ limit: Int) throws(HostError) {
        let (reader, next) = state.withLock { state -> (Reader?, Int64?) in
            guard let last = state.pushes.prefix(limit).last, last.entry.arrival > state.offered else {
                return (state.reader, nil)
            }
            return (state.reader, state.pushes.prefix(max(limit, Int(Inbox.offeredLimit))).last?.entry.arrival)
        }
        guard let next else { return }
        try run { (connection) throws(StoreError) in
            switch reader {
            case .host: try HostHandover(connection).offer(through: next)
            case .program(let name): try InboxPrograms(connection).offer(name, through: next)
            case nil: break
            }
        }
        state.withLock { $0.offered = max($0.offered, next) }
    }

    @discardableResult
    private func run<T: Sendable>(
        within milliseconds: UInt64? = nil, _ work: @escaping @Sendable (Connection) throws(StoreError) -> T
    ) throws(HostError) -> T {
        do throws(StoreError) { return try database.run(within: milliseconds, work) } catch { throw HostError(error) }
    }
}

extension WaitingPushes.State {
    mutating func append(_ push: WaitingPushes.Push) {
        pushes.append(push)
        bytes += push.bytes
        knownThrough = max(knownThrough, push.entry.arrival)
    }

    /// Pushes through this arrival were dropped: too many wait for the program.
    mutating func drop(through arrival: Int64) {
        guard arrival > takenThrough else { return }
        hasDropped = true
        let gone = pushes.prefix { $0.entry.arrival <= arrival }.count
        bytes -= pushes.prefix(gone).reduce(0) { $0 + $1.bytes }
        pushes.removeFirst(gone)
        knownThrough = max(knownThrough, arrival)
    }

    /// It has no row any more, because another push replaces it. Returns the push that the host knows in its place: it was
    /// taken since the work began, or it replaced one that was; `nil` = none.
    mutating func replace(_ arrival: Int64, _ id: NotificationID) -> NotificationID? {
        if let index = pushes.firstIndex(where: { $0.entry.arrival == arrival }) {
            let push = pushes.remove(at: index)
            bytes -= push.bytes
            return push.entry.replaces
        }
        return replaces.removeValue(forKey: arrival) ?? (arrival <= takenThrough ? id : nil)
    }

    /// Ends a batch: those of it that wait again come first, as if never taken.
    mutating func putBack(_ waitsAgain: (Inbox.Entry) -> Bool) {
        let back = taken.filter(waitsAgain).map { WaitingPushes.Push(entry: $0, bytes: $0.notification.textBytes) }
        taken = []
        pushes.insert(contentsOf: back, at: 0)
        bytes += back.reduce(0) { $0 + $1.bytes }
        if let first = back.first { takenThrough = min(takenThrough, first.entry.arrival - 1) }
    }
}

extension Notifications.Notification {
    /// About what it takes in memory.
    fileprivate var textBytes: Int {
        var bytes = title.utf8.count + body.utf8.count + 256
        if let data { bytes += data.roughBytes }
        return bytes + richer.members.roughBytes
    }
}

extension JSONObject {
    fileprivate var roughBytes: Int {
        members.reduce(0) { $0 + $1.key.utf8.count + $1.value.roughBytes + 32 }
    }
}

extension JSONValue {
    fileprivate var roughBytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .array(let values): values.reduce(0) { $0 + $1.roughBytes + 16 }
        case .object(let object): object.roughBytes
        case _: 8
        }
    }
}
