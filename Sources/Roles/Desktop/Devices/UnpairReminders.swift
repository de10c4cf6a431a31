import Pairing
import Peering
import Wire

/// The devices that are not paired any more and may not know it.
///
/// `bellwire:unpair` has no answer, so it is repeated: whenever a relay has registered the desktop, and when the device
/// sends something. Times are the loop's milliseconds.
struct UnpairReminders: Sendable {
    /// Pause before a device that keeps sending is notified again, in milliseconds.
    static let interval: UInt64 = 10_000

    private struct Stranger: Peer {
        let id: PeerID
    }

    private struct Reminder: Sendable {
        var toldAt: UInt64 = 0
        /// The routes that have carried it since this start: ours keep it for a device that is away.
        var toldOver: Set<RouteID> = []
    }

    private var book: PeerBook<Stranger, Reminder>
    /// Peers of which nothing is known are told, too, when they speak: pairings were lost.
    private let tellsStrangers: Bool

    /// - Parameters:
    ///   - peers: those whom the store remembers.
    ///   - strangers: the store has lost pairings, so there are others.
    init(_ peers: [PeerID], strangers: Bool = false) {
        book = PeerBook(peers.map(Stranger.init)) { _ in Reminder() }
        tellsStrangers = strangers
    }

    /// Notify the device now, over all routes, and again later.
    mutating func begin(_ peer: PeerID, now: UInt64) {
        book.forget(peer)
        book.upsert(Stranger(id: peer)) { Reminder(toldAt: now) }
    }

    /// It was notified over this route.
    mutating func told(_ peer: PeerID, over route: RouteID) { book[peer]?.toldOver.insert(route) }

    /// The route is up. Returns the devices that were not notified over it yet.
    func due(over route: RouteID) -> [PeerID] {
        book.ids.filter { book[$0]?.toldOver.contains(route) == false }
    }

    /// An unpaired peer has sent a sealed frame. Returns whether to notify it.
    ///
    /// - Parameter asStranger: it isn't being paired.
    mutating func spoke(_ peer: PeerID, now: UInt64, asStranger: Bool = false) -> Bool {
        guard let reminder = book[peer] else {
            guard asStranger, tellsStrangers else { return false }
            if book.count >= UnpairNotices.limit, let oldest = book.ids.first { book.forget(oldest) }
            begin(peer, now: now)
            return true
        }
        guard now &- reminder.toldAt >= Self.interval else { return false }
        book[peer]?.toldAt = now
        return true
    }

    /// The device is paired again, or could not be unpaired.
    mutating func forget(_ peer: PeerID) { book.forget(peer) }
}
