package import Hosting
package import Identity
package import JSON
package import Sealing
package import Signalling
package import Store
package import Transport
package import Wire

/// What is said to peers and by them: sealed to those that were paired so, and never otherwise (protocol.md 4.2).
///
/// ```swift
/// switch channel.open(message, of: .init(book.peer(message.from)), mayPair: pairing.isActive) {
/// case .ofPeer(let incoming): …       // a paired peer, in the way in which it was paired
/// case .ofStranger(let incoming): …   // of use to a pairing; else `channel.countUnknownSender()`
/// case .plainOfSecure(let incoming): …  // counted; a pairing counts it as well, and nobody else hears of it
/// case .counted(let reason): …
/// }
/// ```
@EventLoop
package final class PeerChannel {
    /// How the sender of something is known.
    package enum Sender: Sendable {
        case unknown
        /// Paired without a seal.
        case plain
        case secure

        package init(_ peer: (some PairedPeer)?) {
            self = peer.map { $0.isSecure ? .secure : .plain } ?? .unknown
        }
    }

    package enum Opening: Sendable {
        case ofPeer(Incoming)
        /// Not of a paired peer, or sealed where the pairing is plain: only a pairing may take it.
        case ofStranger(Incoming)
        /// Plain text in the name of a peer that is paired sealed: there is no way back (protocol.md 4.2).
        case plainOfSecure(Incoming)
        case counted(Dropped)
    }

    /// Why something was counted and dropped.
    package enum Dropped: Sendable, Equatable {
        /// Sealed, by nobody that we know or pair with.
        case unknownSender
        case unopened(SealError)
    }

    /// What was dropped since the role was opened.
    package struct Counters: Sendable, Equatable {
        package internal(set) var unknownSenders: Int64 = 0
        /// Plain text in the name of a peer that is paired sealed.
        package internal(set) var plainOfSecure: Int64 = 0
        /// Sealed, and already in the store.
        package internal(set) var replayedInStore: Int64 = 0
        /// By the sealer: forged, replayed, misaddressed, malformed.
        package internal(set) var unopened = RefusedFrames()

        /// All replays: what the sealer remembered, and what only the store did.
        package var replayed: Int64 { Int64(clamping: unopened.replayed) &+ replayedInStore }
    }

    /// Whether a frame's effect may happen.
    package enum Once: Sendable {
        case first
        /// It had its effect before; counted.
        case replayed
        case failed(StoreError)
    }

    private let database: Database
    private let makeSealer: @Sendable () -> Sealer
    /// Readable for tests.
    private(set) lazy var sealer = makeSealer()
    private var counts = Counters()

    package nonisolated init(key: SigningKey, seal: RoleState.Seal, database: Database) {
        self.database = database
        makeSealer = { Sealer(key: key, epoch: seal.epoch, windows: seal.windows) }
    }

    package var counters: Counters {
        var counters = counts
        counters.unopened = sealer.refused
        return counters
    }

    package func countUnknownSender() { counts.unknownSenders &+= 1 }

    /// A frame whose mark the role has saved itself turned out to be in the store already.
    package func countReplay() { counts.replayedInStore &+= 1 }

    // MARK: In

    /// Opens what came. Each seal opens once.
    ///
    /// - Parameter mayPair: whether a peer that is not paired sealed may have a reason to seal something to us.
    package func open(_ message: RelayMessage, of sender: Sender, mayPair: Bool) -> Opening {
        guard let sealed = Incoming.sealedPayload(of: message) else {
            let incoming = Incoming(plain: message)
            switch sender {
            case .unknown: return .ofStranger(incoming)
            case .plain: return .ofPeer(incoming)
            case .secure:
                counts.plainOfSecure &+= 1
                return .plainOfSecure(incoming)
            }
        }
        let isSecure = if case .secure = sender { true } else { false }
        guard isSecure || mayPair else {
            counts.unknownSenders &+= 1
            return .counted(.unknownSender)
        }
        do throws(SealError) {
            let incoming = Incoming(try sealer.open(sealed, from: message.from), of: message)
            return isSecure ? .ofPeer(incoming) : .ofStranger(incoming)
        } catch {
            return .counted(.unopened(error))
        }
    }

    /// Opens the `encrypted_body` of a push (protocol.md 4.7); `nil` = it is none of that peer's to us.
    package func openText(_ payload: JSONObject, from peer: PeerID) -> String? { sealer.openText(payload, from: peer) }

    /// A frame has an effect once: what it brings about comes after it was recorded. Plain ones, without a mark, are not
    /// recorded. `then` is called on the loop, at once where there is no mark.
    ///
    /// - Parameter countsReplay: false for pairing frames: the flow that took one may have recorded it already.
    package func once(
        _ mark: SealMark?, countsReplay: Bool = true, then: @escaping @Sendable @EventLoop (Once) -> Void
    ) {
        guard let mark else { return then(.first) }
        database.submit { (connection) throws(StoreError) in
            try SealStates(connection).save(mark)
        } then: { result in
            EventLoop.post {
                switch result {
                case .success(true): then(.first)
                case .success(false):
                    if countsReplay { self.countReplay() }
                    then(.replayed)
                case .failure(let error): then(.failed(error))
                }
            }
        }
    }

    // MARK: Out

    /// Sends a payload; sealed anew each time where so asked.
    package func send(
        _ payload: JSONValue, to peer: PeerID, sealed: Bool, over link: (any RelayLink)?
    ) -> Sent {
        guard let link, link.state.isOnline else { return .offline }
        guard sealed else { return Sent(link.send(to: peer, payload: payload, sealed: false)) }
        let envelope: JSONObject
        do throws(SealError) {
            envelope = try sealer.seal(payload.object ?? [:], to: peer, now: .now)
        } catch {
            return .unsealable(error)
        }
        return Sent(link.send(to: peer, payload: .object(envelope), sealed: true))
    }

    // MARK: Peers come and go

    /// A peer is paired: nothing of it is forgotten, and nothing counts that it has sealed before the frame that has
    /// paired it.
    package func keep(_ peer: PeerID, since mark: SealMark?) { sealer.keep(peer, since: mark) }

    /// A peer that is no longer spoken with. Its window stays, as its row does: the keys stay what they are.
    package func forget(_ peer: PeerID) { sealer.dropBox(of: peer) }
}
