/// Decides when a guest's reading calls are carried out. Their answers can be long, and each stays in memory from when it is
/// read until the guest has it: a guest that does not take its answers gets no further ones.
///
/// A pure value, over whatever stands for a call. Calls of one guest begin in their order.
package struct ReadTurns<Call> {
    package typealias Session = StoredFeed.Session

    /// Under way for all guests together.
    package static var limit: Int { 8 }
    /// Under way for one guest.
    package static var sessionLimit: Int { 2 }
    /// A guest with more bytes than that to read has to read them first.
    package static var unreadBytes: Int { 65_536 }

    package struct Turn {
        package let session: Session
        package let call: Call
    }

    private var waiting: [Turn] = []
    /// The guest of each call under way.
    private var running: [Session] = []

    package init() {}

    package mutating func add(_ call: Call, of session: Session) { waiting.append(Turn(session: session, call: call)) }

    package mutating func finished(_ session: Session) {
        if let index = running.firstIndex(of: session) { running.remove(at: index) }
    }

    /// Its calls that have not begun never will.
    package mutating func ended(_ session: Session) { waiting.removeAll { $0.session == session } }

    /// The next call to begin, if there is one.
    ///
    /// - Parameter unread: how many bytes a guest has yet to read.
    package mutating func next(unread: (Session) -> Int) -> Turn? {
        guard running.count < Self.limit, !waiting.isEmpty else { return nil }
        var blocked: [Session] = []
        for index in waiting.indices {
            let session = waiting[index].session
            guard !blocked.contains(session) else { continue }
            let mine = running.reduce(0) { $0 + ($1 == session ? 1 : 0) }
            if mine < Self.sessionLimit, unread(session) <= Self.unreadBytes {
                running.append(session)
                return waiting.remove(at: index)
            }
            blocked.append(session)
        }
        return nil
    }
}
