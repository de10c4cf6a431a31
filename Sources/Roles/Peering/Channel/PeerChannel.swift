package import Hosting
package import Identity
package import JSON
package import Sealing
package import Signalling
package import Store
package import Transport
package import Wire

/// Seals payloads for peers that were paired sealed, and opens theirs: in sessions with peers that use them (WireSessions,
/// "Overview"), else in version 1 (WireSealing, "The seal").
///
/// ```swift
/// switch channel.open(message, of: .init(book.peer(message.from)), mayPair: pairing.isActive) {
/// case .ofPeer(let incoming): …       // from a paired peer, in the form of its pairing
/// case .ofStranger(let incoming): …   // for a pairing; else `channel.countUnknownSender()`
/// case .plainOfSecure(let incoming): …  // counted; only pairing flows see it
/// case .stale(let incoming): …  // for a pairing; else `channel.countReplay()`
/// case .counted(let reason): …
/// }
/// ```
@EventLoop
package final class PeerChannel {
    /// What is known about the sender of a frame.
    package enum Sender: Sendable {
        case unknown
        /// Paired without sealing.
        case plain
        case secure

        package init(_ peer: (some PairedPeer)?) {
            self = peer.map { $0.isSecure ? .secure : .plain } ?? .unknown
        }
    }

    package enum Opening: Sendable {
        case ofPeer(Incoming)
        /// From an unpaired peer, or sealed by a peer that was paired plain: only a pairing flow may take it.
        case ofStranger(Incoming)
        /// Plain text in the name of a peer that was paired sealed: never accepted (WireSealing, "After a sealed
        /// pairing").
        case plainOfSecure(Incoming)
        /// Refused by the replay window, but it carries the proof of a code: only a pairing flow that verifies it may take
        /// it (WireSealing, "Replay protection").
        case stale(Incoming)
        case counted(Dropped)
        /// A frame of a handshake or of a move to another key: everything is done.
        case handled
    }

    /// Why a frame was dropped.
    package enum Dropped: Sendable, Equatable {
        /// Sealed by a peer that is neither paired nor pairing.
        case unknownSender
        case unopened(SealError)
        /// In the name of a key that was revoked.
        case revoked
    }

    /// Frames dropped since the role was opened.
    package struct Counters: Sendable, Equatable {
        package internal(set) var unknownSenders: Int64 = 0
        /// Plain text in the name of a peer that was paired sealed.
        package internal(set) var plainOfSecure: Int64 = 0
        /// In the name of a key that was revoked (WireRekey, "Revocation").
        package internal(set) var revoked: Int64 = 0
        /// Sealed, and already recorded in the store.
        package internal(set) var replayedInStore: Int64 = 0
        /// Refused by the sealer: forged, replayed, misaddressed, malformed.
        package internal(set) var unopened = RefusedFrames()
        /// Answers to our handshakes that our keys don't open; among the forged ones too.
        package internal(set) var refusedHandshakes: Int64 = 0

        /// All replays: detected by the sealer or by the store.
        package var replayed: Int64 { Int64(clamping: unopened.replayed) &+ replayedInStore }
    }

    /// Whether a frame's effect may happen.
    package enum Once: Sendable {
        case first
        /// It already had its effect; counted.
        case replayed
        case failed(StoreError)
    }

    /// Numbers this start of the role (WireSealing, "Replay protection").
    package nonisolated let epoch: Int64
    private let database: Database
    private let makeSealer: @Sendable () -> Sealer
    private let makeSessions: @Sendable @EventLoop () -> PeerSessions?
    private let makeMoves: @Sendable @EventLoop (PeerChannel) -> KeyMoves
    /// Not private, for tests.
    private(set) lazy var sealer = makeSealer()
    /// `nil` = this role speaks version 1 alone.
    package private(set) lazy var sessions = makeSessions()
    package private(set) lazy var moves = makeMoves(self)
    private var revoked: Set<PeerID>
    private var counts = Counters()
    private var refusedInSessions = RefusedFrames()

    /// - Parameter role: its part in sessions; `nil` = it speaks version 1 alone.
    package nonisolated init(
        key: SigningKey, seal: RoleState.Seal, database: Database, role: SessionPair.Role? = nil
    ) {
        self.database = database
        epoch = seal.epoch
        revoked = seal.revoked
        makeSessions = { role.map { PeerSessions(role: $0, key: key, epoch: seal.epoch, stored: seal.peers) } }
        makeMoves = { KeyMoves(key: key, stored: seal.moves, database: database, channel: $0) }
        makeSealer = { Sealer(key: key, epoch: seal.epoch, windows: seal.windows) }
    }

    package var counters: Counters {
        var counters = counts
        counters.unopened = sealer.refused + refusedInSessions
        counters.refusedHandshakes = sessions?.refusedAnswers ?? 0
        return counters
    }

    package func countUnknownSender() { counts.unknownSenders &+= 1 }

    /// Counts a replay that the role found: when it saved the mark in its own transaction, or in a stale frame that proves
    /// nothing.
    package func countReplay() { counts.replayedInStore &+= 1 }

    // MARK: Receiving

    /// Opens a message. Each seal opens once.
    ///
    /// - Parameters:
    ///   - mayPair: whether a pairing is under way, so that an unpaired peer may send sealed frames, and the proof of a code
    ///     counts before the replay window. Asked only if it matters.
    ///   - link: it came over this one. Answers to handshakes go back over it.
    package func open(
        _ message: PeerMessage, of sender: Sender, mayPair: @autoclosure () -> Bool, over link: (any RouteLink)? = nil
    ) -> Opening {
        if isRevoked(message.from) {
            countRevoked()
            return .counted(.revoked)
        }
        if let sessions, let opening = open(message, of: sender, in: sessions, over: link) { return opening }
        guard let sealed = Incoming.sealedPayload(of: message) else {
            let incoming = Incoming(plain: message)
            switch sender {
            case .unknown: return announcement(in: incoming) ?? .ofStranger(incoming)
            case .plain: return .ofPeer(incoming)
            case .secure:
                if let opening = repeatedAnnouncement(in: incoming) { return opening }
                counts.plainOfSecure &+= 1
                return .plainOfSecure(incoming)
            }
        }
        let isSecure = if case .secure = sender { true } else { false }
        guard isSecure || mayPair() else {
            counts.unknownSenders &+= 1
            return .counted(.unknownSender)
        }
        let incoming: Incoming
        do throws(SealError) {
            let opened = try sealer.open(sealed, from: message.from) { PairingProofs.isCarried(by: $0) && mayPair() }
            incoming = Incoming(opened, of: message)
            guard !opened.mark.isStale else { return .stale(incoming) }
        } catch {
            return .counted(.unopened(error))
        }
        guard isSecure else { return .ofStranger(incoming) }
        do throws(SealError) { try sessions?.checkVersionOne(message.from) } catch {
            // A peer that has unpaired us has no session any more. Only the two have the preshared key.
            if let key = sessions?.presharedKey(of: message.from),
                Unpair.isProved(incoming.payload, by: key, from: message.from, to: sealer.id)
            {
                return .ofPeer(incoming)
            }
            // A peer that has lost its state pairs anew in version 1; one that missed our last answer repeats its proof.
            if mayPair() || incoming.payload.object.map({ PairingProofs.isCarried(by: $0) }) == true {
                return .ofStranger(incoming)
            }
            refusedInSessions.count(error)
            if incoming.isLive {
                if incoming.payload["type"]?.string == Unpair.type { sessions?.denied(by: message.from) }
                sessions?.versionOneRefused(message.from, over: link)
            }
            return .counted(.unopened(error))
        }
        // Keys move in sessions alone.
        if Self.rekey(in: incoming) != nil {
            let error = SealError(.downgraded, "a move to another key came in version 1 of the seal")
            refusedInSessions.count(error)
            return .counted(.unopened(error))
        }
        if let offer = Self.offer(in: incoming) { sessions?.offered(offer, by: message.from, over: link) }
        return .ofPeer(incoming)
    }

    /// `nil` for what is neither a session's frame nor a handshake's.
    private func open(
        _ message: PeerMessage, of sender: Sender, in sessions: PeerSessions, over link: (any RouteLink)?
    ) -> Opening? {
        guard let payload = message.payload.object, let type = payload["type"]?.string,
            type == SessionFrame.type || type == HandshakeFrame.type
        else { return nil }
        guard case .secure = sender else {
            counts.unknownSenders &+= 1
            return .counted(.unknownSender)
        }
        do throws(SealError) {
            guard type == HandshakeFrame.type else {
                let incoming = Incoming(try sessions.open(payload, from: message.from, over: link), of: message)
                guard let fields = Self.rekey(in: incoming) else { return .ofPeer(incoming) }
                try moves.received(fields, from: message.from)
                return .handled
            }
            try sessions.receive(payload, from: message.from, over: link)
            return .handled
        } catch {
            refusedInSessions.count(error)
            return .counted(.unopened(error))
        }
    }

    /// A peer that we may know announces its new key. `nil` for anything else.
    private func announcement(in incoming: Incoming) -> Opening? {
        guard let fields = Self.rekey(in: incoming) else { return nil }
        do throws(SealError) { try moves.announced(fields, by: incoming.from) } catch {
            counts.unknownSenders &+= 1
            return .counted(.unopened(error))
        }
        return .handled
    }

    /// A peer announces its new key although it is paired under that: it has not heard so. `nil` for anything else.
    private func repeatedAnnouncement(in incoming: Incoming) -> Opening? {
        guard let fields = Self.rekey(in: incoming) else { return nil }
        do throws(SealError) { try moves.repeated(fields, by: incoming.from) } catch {
            counts.plainOfSecure &+= 1
            return .counted(.unopened(error))
        }
        return .handled
    }

    /// The fields of a `bellwire:rekey`; empty ones can't be read.
    private static func rekey(in incoming: Incoming) -> JSONObject? {
        guard incoming.payload["type"]?.string == RekeyFrame.type else { return nil }
        return incoming.payload["payload"]?.object ?? [:]
    }

    /// What a hello in version 1 offers; a member that can't be read offers nothing.
    private static func offer(in incoming: Incoming) -> SealOffer? {
        guard incoming.payload["type"]?.string == PairingHello.type, let fields = incoming.payload["payload"],
            let seal = fields["seal"]
        else { return nil }
        return try? SealOffer(decoding: seal)
    }

    /// Opens the `encrypted_body` of a push (WireMessages, "Optional fields of a push"); `nil` = that peer didn't seal
    /// it to us.
    package func openText(_ payload: JSONObject, from peer: PeerID) -> String? { sealer.openText(payload, from: peer) }

    /// Records a frame so that it has its effect only once. Plain frames have no mark and aren't recorded. `then` is called
    /// on the loop, synchronously when there is no mark.
    ///
    /// - Parameter countsReplay: false for pairing frames: the flow that took one may have recorded it already.
    package func once(
        _ mark: SealMark?, countsReplay: Bool = true, then: @escaping @Sendable @EventLoop (Once) -> Void
    ) {
        guard let mark, !mark.isOfSession else { return then(.first) }
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

    // MARK: Sending

    /// Sends a payload. With `sealed` it is sealed anew on each call.
    ///
    /// - Parameter inSession: `false` for pairing frames: their receiver may have lost its state.
    package func send(
        _ payload: JSONValue, to peer: PeerID, sealed: Bool, inSession: Bool = true, over link: (any RouteLink)?
    ) -> Sent {
        guard let link, link.state.isOnline, !isRevoked(peer) else { return .offline }
        guard sealed else { return Sent(link.send(to: peer, payload: payload, sealed: false)) }
        let body = payload.object ?? [:]
        switch inSession ? sessions?.seal(body, to: peer, now: .now, over: link) : nil {
        case .sealed(let frame): return Sent(link.send(to: peer, payload: .object(frame), sealed: true))
        case .waiting: return .waiting
        case .full: return .congested
        case .refused(let error): return .unsealable(error)
        case .versionOne, nil: break
        }
        let envelope: JSONObject
        do throws(SealError) {
            envelope = try sealer.seal(body, to: peer, now: .now)
        } catch {
            return .unsealable(error)
        }
        return Sent(link.send(to: peer, payload: .object(envelope), sealed: true))
    }

    /// Tells a peer that the pairing is over. Without a session it is sealed in version 1, with a proof that we have the
    /// preshared key: no session begins with a peer that is about to be forgotten.
    package func sendUnpair(to peer: PeerID, over link: (any RouteLink)?) -> Sent {
        let payload = Unpair.payload(provedBy: presharedKey(of: peer), from: sealer.id, to: peer)
        let inSession = sessions?.hasSession(with: peer) ?? false
        return send(payload, to: peer, sealed: true, inSession: inSession, over: link)
    }

    // MARK: Peers

    package func isRevoked(_ key: PeerID) -> Bool { !revoked.isEmpty && revoked.contains(key) }

    /// Whether another key can be refused.
    var canRevoke: Bool { revoked.count < RevokedKeys.limit }

    /// A frame in its name came another way: at a typed code's alias.
    package func countRevoked() { counts.revoked &+= 1 }

    /// From now on nothing in this key's name is opened, and nothing is sent to it. What is known of it stays, until it is
    /// sure that it stays refused.
    package func refuse(_ key: PeerID) { revoked.insert(key) }

    /// The same, and nothing is kept of it in memory but its replay window, and its preshared key: a readmitted peer is told
    /// that it is not paired.
    package func revoke(_ key: PeerID) {
        refuse(key)
        forget(key, isTold: true)
    }

    /// The key counts as any other again.
    package func readmit(_ key: PeerID) { revoked.remove(key) }

    /// Keeps a newly paired peer's window. Anything the peer sealed before the frame that paired it is void.
    ///
    /// - Parameter presharedKey: of its sessions; `nil` = both sides have none.
    package func keep(_ peer: PeerID, since mark: SealMark?, presharedKey: PresharedKey?) {
        sealer.keep(peer, since: mark?.isOfSession == true ? nil : mark)
        sessions?.begin(peer, presharedKey)
    }

    /// Drops the shared key of an unpaired peer. Its replay window stays: the keys would be the same after pairing again.
    /// Its sessions end.
    ///
    /// - Parameter isTold: it will be told, for which its preshared key stays (``PeerSessions/end(_:_:)``).
    package func forget(_ peer: PeerID, isTold: Bool = false) {
        moves.forget(peer)
        sealer.dropBox(of: peer)
        if isTold { sessions?.end(peer, [peer]) } else { sessions?.forget(peer) }
    }

    /// Of the pairing; zeros if it has none.
    package func presharedKey(of peer: PeerID) -> PresharedKey { sessions?.presharedKey(of: peer) ?? .none() }

    /// The peer has another key: its sessions begin anew with that, and version 1 counts no more. The old key is refused.
    package func moved(_ move: PeerMove) {
        let presharedKey = sessions?.presharedKey(of: move.old)
        moves.moved(move)
        revoke(move.old)
        sessions?.begin(move.new, presharedKey, onlySessions: true)
    }

    /// The store could not move it: its old key counts again.
    package func unmoved(_ move: PeerMove) {
        let presharedKey = sessions?.presharedKey(of: move.new)
        forget(move.new)
        readmit(move.old)
        sessions?.begin(move.old, presharedKey, onlySessions: true)
        moves.unmoved(move)
    }

    /// `nil` = this role speaks version 1 alone.
    package func sealStatus(of peer: PeerID) -> SealStatus? {
        guard var status = sessions?.status(of: peer) else { return nil }
        if status.problem == .unanswered, moves.isAbsent(peer) { status.problem = nil }
        return status
    }

    /// What sessions ask of the role. That the first session with a peer is complete is stored here.
    package func handleSessions(_ handler: @escaping @EventLoop (PeerSessions.Event) -> Void) {
        sessions?.handler = { [weak self] event in
            if case .completed(let peer) = event {
                self?.completed(peer)
                // It could not be asked before.
                EventLoop.post { self?.moves.begun(peer) }
            }
            handler(event)
        }
    }

    /// Before the frame that completed the session has its effect: the store keeps the order.
    private func completed(_ peer: PeerID) {
        database.submit { (connection) throws(StoreError) in
            try SealPeers(connection).complete(peer)
        } then: { _ in
        }
    }
}
