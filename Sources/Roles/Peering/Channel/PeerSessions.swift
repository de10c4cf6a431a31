import Hosting
package import Identity
import JSON
import Sealing
package import Signalling
package import Transport
package import Wire

/// The sessions with the peers that were paired sealed: performs what each peer's machine decides (WireSessions,
/// "Handshake").
///
/// A payload for a peer whose session is on its way waits for it, a few seconds at most: whoever sent it sends it again
/// until it is answered, as with every other frame that is lost. One timer serves all peers.
@EventLoop
package final class PeerSessions {
    package enum Event: Sendable, Equatable {
        /// A session with this desktop begins: say hello to it before anything else.
        case greet(PeerID)
        /// The first session with this peer is complete: store that version 1 counts no more.
        case completed(PeerID)
        /// Handshakes with this peer fail, or do so no more: ``SealStatus/problem``.
        case problemChanged(PeerID)
    }

    enum Sealing {
        /// The peer has no session, and may be sent version 1.
        case versionOne
        case sealed(JSONObject)
        /// Sent when the session begins, if that is soon.
        case waiting
        /// Too much waits already.
        case full
        case refused(SealError)
    }

    struct Opened {
        let body: JSONObject
        let timestamp: EpochMilliseconds?
        let mark: SealMark
    }

    /// Payloads that wait, for each peer. It is above all that a role sends in that time: 1,024 calls, each at most twice,
    /// and the pushes of an outbox's window. Those limits refuse first, and name what is too many.
    static let waitingLimit = 2_560
    /// How long each of them waits, in milliseconds.
    static let patience: UInt64 = 10_000

    private struct Waiting {
        let payload: JSONObject
        let until: UInt64
    }

    private struct SealedPeer: Peer {
        let id: PeerID
    }

    private struct Known {
        var entry: SealPeers.Entry
        /// Made at the first use: most peers of a start are never heard from.
        var sessions: Sessions?
    }

    /// The sessions with one peer, and what waits for the next one.
    private final class Sessions {
        let peer: PeerID
        var machine: SessionStateMachine
        /// It has offered version 2 since it was paired.
        var isOffered = false
        /// ``SealStatus/Problem/denied``
        var isDenied = false
        var waiting: [Waiting] = []
        weak var link: (any RouteLink)?

        var problem: SealStatus.Problem? { SealStatus.Problem(machine, isDenied: isDenied) }

        init(_ peer: PeerID, _ machine: SessionStateMachine) {
            self.peer = peer
            self.machine = machine
        }
    }

    package var handler: (@EventLoop (Event) -> Void)?
    /// Answers to our handshakes that our keys don't open.
    private(set) var refusedAnswers: Int64 = 0
    private let role: SessionPair.Role
    private let ownID: PeerID
    private let key: AgreementKey
    /// Of this start.
    private let epoch: Int64
    private var book = PeerBook<SealedPeer, Known>()
    private var timerAt: UInt64?
    private lazy var timer = LoopTimer { [weak self] in self?.deadlineReached() }

    init(role: SessionPair.Role, key: SigningKey, epoch: Int64, stored: [PeerID: SealPeers.Entry]) {
        self.role = role
        self.epoch = epoch
        self.key = AgreementKey(key)
        ownID = PeerID(key.did)
        for (peer, entry) in stored { book.upsert(SealedPeer(id: peer)) { Known(entry: entry) } }
    }

    // MARK: Peers

    /// A peer was paired, or paired anew: sessions, minimum and preshared key begin anew.
    ///
    /// - Parameter onlySessions: version 1 never counts, also without a preshared key.
    func begin(_ peer: PeerID, _ presharedKey: PresharedKey?, onlySessions: Bool = false) {
        let policy = onlySessions ? SealPolicy(isPinned: true) : nil
        begin(peer, SealPeers.Entry(policy: policy, presharedKey: presharedKey ?? .none()))
    }

    private func begin(_ peer: PeerID, _ entry: SealPeers.Entry) {
        book.forget(peer)
        book.upsert(SealedPeer(id: peer)) { Known(entry: entry) }
    }

    /// The peer may be paired there, and is not yet here.
    package func expect(_ peer: PeerID, _ presharedKey: PresharedKey) { begin(peer, presharedKey) }

    /// The pairing has ended, and the peer is still to be told, under all its ids: that takes the preshared key.
    package func end(_ peer: PeerID, _ ids: [PeerID]) {
        guard let entry = book[peer]?.entry else { return }
        for id in ids { begin(id, entry) }
    }

    /// Whether a session with the peer is there, or was ever complete since it was paired.
    func hasUsedSessions(_ peer: PeerID) -> Bool {
        guard let known = book[peer] else { return false }
        return known.entry.policy.minimum == .two || known.sessions?.machine.hasSession == true
    }

    /// A desktop asks the device for a session, until there is one.
    package func ask(_ peer: PeerID, over link: (any RouteLink)?) {
        guard let known = sessions(peer) else { return }
        change(known, over: link) { $0.wanted(now: EventLoop.now) }
    }

    func forget(_ peer: PeerID) { book.forget(peer) }

    /// Whether something that is sealed now goes out in a session.
    package func hasSession(with peer: PeerID) -> Bool { book[peer]?.sessions?.machine.hasSession ?? false }

    /// Of the pairing; all zeros where that made none.
    func presharedKey(of peer: PeerID) -> PresharedKey { book[peer]?.entry.presharedKey ?? .none() }

    func status(of peer: PeerID) -> SealStatus {
        let known = book[peer]
        return SealStatus(
            version: known?.entry.policy.minimum ?? .one,
            hasPresharedKey: known?.entry.presharedKey.isFromPairing ?? false,
            problem: known?.sessions?.problem)
    }

    /// Throws `downgraded` where only sessions count.
    func checkVersionOne(_ peer: PeerID) throws(SealError) {
        try book[peer]?.entry.policy.check(.one)
    }

    /// A peer that uses version 1 where only sessions count needs a handshake.
    func versionOneRefused(_ peer: PeerID, over link: (any RouteLink)?) {
        guard let known = sessions(peer) else { return }
        change(known, over: link) { $0.versionOneRefused(now: EventLoop.now, seed: SessionSeed.random) }
    }

    /// A peer says that it is not paired, and does not prove it. The pairing stays; what it says next in a session counts
    /// more.
    func denied(by peer: PeerID) {
        guard let known = sessions(peer) else { return }
        change(known, over: nil) { _ in
            known.isDenied = true
            return []
        }
    }

    // MARK: Events

    /// This side has registered at a relay over which the peer may be reached.
    package func registered(_ peer: PeerID, over link: any RouteLink) {
        guard usesSessions(peer), let known = sessions(peer) else { return }
        change(known, over: link) { $0.registered(now: EventLoop.now, seed: SessionSeed.random) }
    }

    /// The peer offers these versions, in a seal. A desktop asks a device that offers sessions for the first one.
    func offered(_ offer: SealOffer, by peer: PeerID, over link: (any RouteLink)?) {
        guard offer.contains(.two), role == .responder, let known = sessions(peer), !known.machine.hasSession else {
            return
        }
        known.isOffered = true
        ask(peer, over: link)
    }

    /// A handshake's frame in the name of this peer. Throws what is wrong with it.
    func receive(_ payload: JSONObject, from peer: PeerID, over link: (any RouteLink)?) throws(SealError) {
        let frame = try HandshakeFrame(decoding: payload)
        guard let known = sessions(peer) else { return }
        let isNamed = link?.relay?.senderNaming == .byRelay
        var refusal: SealError?
        change(known, over: link) { machine in
            do throws(SealError) {
                return try machine.receive(frame, isNamed: isNamed, now: EventLoop.now, seed: SessionSeed.random)
            } catch {
                refusal = error
                guard error.code == .tooManyHandshakes else { return [] }
                return machine.tooManyCame(nonce: { Identity.randomBytes(16) }, now: EventLoop.now)
            }
        }
        if case .answer = frame, refusal?.code == .forged { refusedAnswers &+= 1 }
        if let refusal { throw refusal }
    }

    /// Throws why the frame was not opened.
    func open(_ payload: JSONObject, from peer: PeerID, over link: (any RouteLink)?) throws(SealError) -> Opened {
        let frame = try SessionFrame(decoding: payload)
        guard let known = sessions(peer) else {
            throw SealError(.noKey, "a session's frame came from a peer without a key")
        }
        var opening: SessionStateMachine.Opening?
        change(known, over: link) { machine in
            opening = machine.open(frame, now: EventLoop.now, seed: SessionSeed.random)
            switch opening {
            case .opened(_, let actions):
                known.isDenied = false
                return actions
            case .refused(_, let actions): return actions
            case nil: return []
            }
        }
        switch opening {
        case .opened(let opened, _):
            if opened.isFirst { completed(known) }
            return Opened(
                body: opened.body, timestamp: opened.timestamp,
                mark: SealMark(peer: peer, session: frame.id, counter: frame.counter, start: opened.epoch))
        case .refused(let error, _): throw error
        case nil: throw SealError(.unknownSession, "the peer was forgotten")
        }
    }

    /// Seals a payload for this peer, anew each time.
    func seal(
        _ payload: JSONObject, to peer: PeerID, now: EpochMilliseconds, over link: any RouteLink
    ) -> Sealing {
        guard usesSessions(peer), let known = sessions(peer),
            book[peer]?.entry.policy.version(hasSession: known.machine.hasSession) != .one
        else { return .versionOne }
        var sealing: SessionStateMachine.Sealing?
        change(known, over: link) { machine in
            sealing = machine.seal(payload, timestamp: now, now: EventLoop.now, seed: SessionSeed.random)
            switch sealing {
            case .sealed(_, let actions), .waiting(let actions): return actions
            case .refused, nil: return []
            }
        }
        switch sealing {
        case .sealed(let frame, _): return .sealed(frame.json)
        case .refused(let error): return .refused(error)
        case .waiting, nil: return wait(payload, for: known)
        }
    }

    // MARK: Waiting

    private func wait(_ payload: JSONObject, for known: Sessions) -> Sealing {
        let now = EventLoop.now
        known.waiting.removeAll { $0.until <= now }
        guard known.waiting.count < Self.waitingLimit else { return .full }
        known.waiting.append(Waiting(payload: payload, until: now + Self.patience))
        return .waiting
    }

    /// Sends what waited for the session that has begun.
    private func sendWaiting(to known: Sessions) {
        guard !known.waiting.isEmpty else { return }
        let waiting = known.waiting
        known.waiting = []
        let now = EventLoop.now
        for item in waiting where item.until > now {
            guard let link = known.link, link.state.isOnline,
                case .sealed(let frame) = seal(item.payload, to: known.peer, now: .now, over: link)
            else { return }
            _ = link.send(to: known.peer, payload: .object(frame), sealed: true)
        }
    }

    // MARK: Acting

    private func usesSessions(_ peer: PeerID) -> Bool {
        guard let known = book[peer] else { return false }
        if known.entry.policy.minimum == .two { return true }
        return known.sessions.map { $0.isOffered || $0.machine.held > 0 } ?? false
    }

    /// `nil` for a peer whose id is not a key.
    private func sessions(_ peer: PeerID) -> Sessions? {
        if let sessions = book[peer]?.sessions { return sessions }
        let entry = book[peer]?.entry ?? SealPeers.Entry()
        guard
            let pair = try? SessionPair(
                role: role, ownID: ownID, own: key, peerID: peer, presharedKey: entry.presharedKey)
        else { return nil }
        let isRequired = entry.policy.minimum == .two
        let new = Sessions(peer, SessionStateMachine(pair, epoch: epoch, isRequired: isRequired))
        book.upsert(SealedPeer(id: peer)) { Known(entry: entry) }
        book[peer]?.sessions = new
        return new
    }

    private func completed(_ known: Sessions) {
        known.machine.isRequired = true
        if book[known.peer]?.entry.policy.sessionCompleted() == true { handler?(.completed(known.peer)) }
        // After this frame has had its effect: it is the hello, which says what is to be sent.
        if role == .responder { EventLoop.post { self.sendWaiting(to: known) } }
    }

    private func change(
        _ known: Sessions, over link: (any RouteLink)?,
        _ event: (inout SessionStateMachine) -> [SessionStateMachine.Action]
    ) {
        if let link { known.link = link }
        let problem = known.problem
        defer { if known.problem != problem { handler?(.problemChanged(known.peer)) } }
        for action in event(&known.machine) {
            switch action {
            case .send(let frame): send(frame, to: known, over: link)
            case .greet:
                handler?(.greet(known.peer))
                sendWaiting(to: known)
            }
        }
        arm(by: known.machine.deadline)
    }

    private func send(_ frame: HandshakeFrame, to known: Sessions, over link: (any RouteLink)?) {
        guard let link = link ?? known.link, link.state.isOnline else { return }
        _ = link.send(to: known.peer, payload: .object(frame.json), sealed: false)
    }

    // MARK: The timer

    private func deadlineReached() {
        let now = EventLoop.now
        timerAt = nil
        for known in book.ids.compactMap({ book[$0]?.sessions }) {
            guard let due = known.machine.deadline else { continue }
            if due <= now {
                change(known, over: nil) { $0.deadlineReached(now: EventLoop.now, seed: SessionSeed.random) }
            } else {
                arm(by: due)
            }
        }
    }

    private func arm(by deadline: UInt64?) {
        guard let deadline, deadline < timerAt ?? .max else { return }
        timerAt = deadline
        timer.start(at: deadline)
    }
}
