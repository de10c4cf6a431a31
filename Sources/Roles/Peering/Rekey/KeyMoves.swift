package import Hosting
package import Identity
package import JSON
package import Sealing
import Signalling
import Store
package import Transport
package import Wire

/// Moves to other keys, this side's own and those of its peers: performs what ``OwnMove`` and ``PeerMoves`` decide
/// (WireRekey, "Overview").
///
/// ```swift
/// channel.moves.attach(to: routes, peers: { … }) { [weak self] event in self?.act(event) }
/// ```
@EventLoop
package final class KeyMoves {
    package enum Event: Sendable {
        /// For the host: `rekey.changed`.
        case changed(JSONObject)
        /// The peer takes its new key: store that, then keep it under that id.
        case switched(PeerMove)
        case problem(String)
    }

    /// A paired peer.
    package struct Known {
        let id: PeerID
        let name: String
        let isSecure: Bool

        package init(_ id: PeerID, name: String, isSecure: Bool) {
            (self.id, self.name, self.isSecure) = (id, name, isSecure)
        }
    }

    private let key: SigningKey
    private let ownID: PeerID
    private let database: Database
    private unowned let channel: PeerChannel
    private var routes: Routes?
    private var known: @EventLoop () -> [Known] = { [] }
    private var handler: @EventLoop (Event) -> Void = { _ in }
    /// While peers are being asked.
    private var next: SigningKey?
    private var own: OwnMove?
    private var peers: PeerMoves
    /// New keys of peers: memory has them, the store may not have them yet.
    private var unstored: Set<PeerID> = []
    /// Signatures are checked, and answers sent, for so many statements of each peer.
    private var budgets: [PeerID: HandshakeBudget] = [:]
    private lazy var timer = LoopTimer { [weak self] in self?.tell() }

    init(key: SigningKey, stored: RoleState.StoredMoves, database: Database, channel: PeerChannel) {
        self.key = key
        ownID = PeerID(key.did)
        self.database = database
        self.channel = channel
        (next, own, peers) = (stored.next, stored.own, stored.peers)
    }

    /// - Parameter peers: the paired ones.
    package func attach(
        to routes: Routes, peers: @escaping @EventLoop () -> [Known], handler: @escaping @EventLoop (Event) -> Void
    ) {
        (self.routes, known, self.handler) = (routes, peers, handler)
    }

    /// The role's units hold the channel, so nothing of them is held from here on.
    package func close() {
        timer.stop()
        routes = nil
        known = { [] }
        handler = { _ in }
    }

    /// What is stated to us may name the key that we had before.
    private var ownIDs: [PeerID] {
        guard let own, own.new == ownID else { return [ownID] }
        return [ownID, own.old]
    }

    // MARK: The host: the own move

    /// Begins a move to that key, or goes on with one. Peers that declined are asked again.
    ///
    /// Errors: `busy` while an earlier move has not reached every peer; `unsupported` if a peer uses no sessions: the
    /// detail has the `peers`.
    package func begin(_ next: SigningKey, _ then: @escaping Then) {
        guard next.did != ownID.text else {
            return then(.failure(HostError(.invalid, "the new key is the key that is already in use")))
        }
        dropUnpaired()
        if let own, own.isSwitched {
            let names = known().filter { own.told($0.id) != nil }.map { JSONValue.string($0.name) }
            return then(
                .failure(
                    HostError(
                        .busy, "the last move has not reached every peer; wait for them, or unpair them",
                        detail: ["peers": .array(names)])))
        }
        let plain = known().filter { !usesSessions($0.id) }
        guard plain.isEmpty else {
            return then(
                .failure(
                    HostError(
                        .unsupported,
                        "moving requires sessions, and these peers have used none; unpair them, and pair them again afterwards",
                        detail: ["peers": .array(plain.map { .string($0.id.text) }), "reason": "no_sessions"])))
        }
        // Later than every statement before: peers take no older one. None has taken one that was far ahead.
        let clock = EpochMilliseconds.now
        let last = own?.timestamp ?? 0
        let now = last <= clock &+ PeerMoves.clockTolerance ? max(clock, last &+ 1) : clock
        var move = OwnMove(phase: .asking, old: ownID, new: PeerID(next.did), timestamp: now)
        if let own, own.isAsking, own.new == move.new {
            move = own.told.contains { $0.answer == .declined } ? own.restated(at: now) : own
        }
        let before = (own, self.next)
        // In memory at once: what happens to peers while this is stored, happens to this move.
        self.next = next
        state(&move)
        move.hasten()
        let begun = move
        own = begun
        save(begun) { [self] error in
            if let error {
                if own?.new == begun.new, own?.timestamp == begun.timestamp { (own, self.next) = before }
                return then(.failure(HostError(error)))
            }
            then(.success(HostReply(status)))
            handler(.changed(status))
            tell()
        }
    }

    /// - Parameter then: with the keys forgotten; the caller deletes the next key's file.
    package func cancel(_ then: @escaping Then) {
        guard var move = own, move.cancel() else {
            return then(.failure(HostError(.notFound, "no move to another key is in progress")))
        }
        save(move) { [self] error in
            if let error { return then(.failure(HostError(error))) }
            (own, next) = (move, nil)
            timer.stop()
            then(.success(.done))
            handler(.changed(status))
        }
    }

    /// `{"state","id","newId"?,"peers"?,"questions"}`
    package var status: JSONObject {
        let names = known()
        func name(of peer: PeerID) -> JSONValue { .string(names.first { $0.id == peer }?.name ?? "") }
        var status: JSONObject = ["id": .string(ownID.text)]
        switch own?.phase {
        case nil, .some(.none): status["state"] = "none"
        case .asking: status["state"] = isReady ? "ready" : "asking"
        case .switched: status["state"] = "switched"
        }
        if let own, own.isAsking || own.isSwitched {
            status["oldId"] = .string(own.old.text)
            status["newId"] = .string(own.new.text)
            let concerned = own.isAsking ? names.map(\.id) : own.told.map(\.peer)
            status["peers"] = .array(
                concerned.map {
                    [
                        "id": .string($0.text), "name": name(of: $0),
                        "state": .string(state(of: $0, in: own)),
                    ]
                })
        }
        status["questions"] = .array(peers.questions.map { .object(question($0, name(of: $0.old))) })
        return status
    }

    private func state(of peer: PeerID, in move: OwnMove) -> String {
        let answer = move.told(peer)?.answer ?? .waiting
        return move.isAsking && answer == .waiting && !usesSessions(peer) ? "no_session" : answer.name
    }

    /// Statements, answers and confirmations travel in sessions alone.
    private func usesSessions(_ peer: PeerID) -> Bool {
        channel.sessions?.hasUsedSessions(peer) == true && known().contains { $0.id == peer && $0.isSecure }
    }

    private func say(_ frame: RekeyFrame, to peer: PeerID) {
        guard usesSessions(peer), let routes else { return }
        _ = channel.send(frame.json, to: peer, sealed: true, over: routes.bestLink(to: peer))
    }

    private func question(_ move: PeerMove, _ name: JSONValue) -> JSONObject {
        [
            "id": .string(move.old.text), "name": name, "newId": .string(move.new.text),
            "at": .integer(move.timestamp),
        ]
    }

    private var isReady: Bool { own?.isReady(known().map(\.id)) == true }

    /// Whether all its relays have called the peer absent.
    func isAbsent(_ peer: PeerID) -> Bool { routes?.isAbsent(peer) == true }

    // MARK: The host: moves of peers

    /// The user's answer to a question.
    ///
    /// Errors: `not_found` if nothing asks that (any more).
    package func confirm(_ peer: PeerID, to new: PeerID, accept: Bool, _ then: @escaping Then) {
        var changed = peers
        guard let move = changed.answered(peer, to: new, accept: accept) else {
            return then(.failure(HostError(.notFound, "no such move waits for an answer")))
        }
        save(changed, of: peer) { [self] error in
            if let error { return then(.failure(HostError(error))) }
            // A newer statement may have come in the meantime.
            guard peers.answered(peer, to: new, accept: accept) != nil else {
                save(peers, of: peer) { _ in }
                return then(.failure(HostError(.notFound, "no such move waits for an answer")))
            }
            then(.success(.done))
            answer(move)
            report(move, accept ? "approved" : "declined")
        }
    }

    private func report(_ move: PeerMove, _ state: String) {
        let name = known().first { $0.id == move.old || $0.id == move.new }?.name ?? ""
        var data = question(move, .string(name))
        data["state"] = .string(state)
        handler(.changed(data))
    }

    private func answer(_ move: PeerMove) {
        say(.answer(new: move.new, isAccepted: move.state == .approved), to: move.old)
    }

    // MARK: Frames

    /// A `bellwire:rekey` came in a session. Throws what is wrong with it.
    func received(_ fields: JSONObject, from peer: PeerID) throws(SealError) {
        switch try RekeyFrame(decoding: fields) {
        case .answer(let new, let isAccepted):
            guard var move = own, move.answered(peer, new: new, isAccepted: isAccepted) else { return }
            own = move
            save(move) { [self] error in if error == nil { handler(.changed(status)) } }
        case .stored(let new):
            guard new == ownID, var move = own, move.reached(peer) else { return }
            own = move
            save(move) { [self] error in if error == nil { handler(.changed(status)) } }
        case .statement(let statement):
            guard statement.old == peer else {
                throw SealError(.misaddressed, "a move was not stated by the old key")
            }
            try spend(peer)
            try statement.verify(for: ownIDs)
            var changed = peers
            let decision = try changed.stated(
                statement,
                PeerMoves.Context(
                    now: .now, isPaired: { [known] id in known().contains { $0.id == id } },
                    isRevoked: channel.isRevoked))
            switch decision {
            case .wait: break
            case .repeatAnswer(let move): answer(move)
            case .ask(let move, _):
                // Asked in memory at once; a start without it is told again.
                peers = changed
                save(changed, of: peer) { [self] error in if error == nil { report(move, "confirming") } }
            }
        }
    }

    /// A `bellwire:rekey` came in plain text from an id that is not paired. Throws why it has no effect.
    func announced(_ fields: JSONObject, by sender: PeerID) throws(SealError) {
        guard case .statement(let statement) = try RekeyFrame(decoding: fields), statement.new == sender else {
            throw SealError(.misaddressed, "a move was not announced by the new key")
        }
        // Before its signatures cost anything.
        guard let move = peers.announced(statement) else {
            throw SealError(.unapprovedMove, "a move to another key was announced without approval")
        }
        try spend(move.old)
        // The old key has to be refused, and no other one makes room for it.
        guard channel.canRevoke else {
            handler(.problem("cannot move a peer to its new key: \(RevokedKeys.limit) keys are refused; readmit some"))
            throw SealError(.tooManyRevoked, "a move was announced while no more keys can be refused")
        }
        // The owner may have stated it before we took the key that we have now, or the one before.
        try statement.verify(for: ownIDs + [move.receiver])
        handler(.switched(move))
    }

    /// A `bellwire:rekey` came in plain text from an id that is paired. It gives nothing away to anybody else: the
    /// confirmation is sealed to the paired peer. Throws why it has no effect.
    func repeated(_ fields: JSONObject, by sender: PeerID) throws(SealError) {
        guard case .statement(let statement) = try RekeyFrame(decoding: fields), statement.new == sender else {
            throw SealError(.misaddressed, "a move was not announced by the new key")
        }
        try spend(sender)
        confirm(sender)
    }

    private func spend(_ peer: PeerID) throws(SealError) {
        guard budgets[peer, default: HandshakeBudget(burst: 16, interval: 1_000)].take(now: EventLoop.now) else {
            throw SealError(.tooManyStatements, "a peer has stated a move too often")
        }
    }

    /// Tells a peer that its new key is stored here: only then may it stop announcing that.
    private func confirm(_ peer: PeerID) {
        if !unstored.contains(peer) { say(.stored(new: peer), to: peer) }
    }

    // MARK: Peers

    /// A connection is new: peers are told at once.
    package func connected() {
        own?.hasten()
        tell()
    }

    /// A session with the peer has begun.
    package func begun(_ peer: PeerID) {
        own?.hasten(peer)
        tell()
    }

    /// The keys to which the peer may move at any moment.
    package func successors(of peer: PeerID) -> [PeerID] { peers.successors(of: peer) }

    /// The peer was unpaired or revoked. Gives the keys that it might have moved to. The store forgets in the transaction
    /// that unpairs.
    @discardableResult
    package func forget(_ peer: PeerID) -> [PeerID] {
        own?.forget(peer)
        budgets[peer] = nil
        return peers.forget(peer)
    }

    /// The peer has its new key, here too.
    func moved(_ move: PeerMove) {
        peers.forget(move.old)
        unstored.insert(move.new)
        own?.moved(move.old, to: move.new)
    }

    /// The store could not move it: the approval still holds.
    func unmoved(_ move: PeerMove) {
        peers.restore(move)
        unstored.remove(move.new)
        own?.moved(move.new, to: move.old)
        handler(.problem("a peer could not be moved to its new key"))
    }

    /// The store has moved it.
    package func stored(_ move: PeerMove) {
        unstored.remove(move.new)
        report(move, "moved")
        confirm(move.new)
        // What was stated to its old key is stated to the new one.
        own?.hasten(move.new)
        tell()
    }

    // MARK: Telling

    /// Makes the statement for each paired peer that has none, or has one for the key that it had before.
    private func state(_ move: inout OwnMove) {
        guard let next, move.isAsking, move.new.text == next.did else { return }
        for peer in known() where move.told(peer.id)?.statement.peer != peer.id {
            let statement = MoveStatement(from: key, to: next, for: peer.id, at: move.timestamp)
            if move.told(peer.id) == nil { move.tell(peer.id, statement) } else { move.restate(statement) }
        }
    }

    /// Peers that are not paired any more hold nothing up.
    private func dropUnpaired() {
        guard var move = own, move.isAsking || move.isSwitched else { return }
        let paired = Set(known().map(\.id))
        let gone = move.told.map(\.peer).filter { !paired.contains($0) }
        guard !gone.isEmpty else { return }
        for peer in gone { move.forget(peer) }
        own = move
        save(move) { _ in }
    }

    private func tell() {
        dropUnpaired()
        guard var move = own, move.isAsking || move.isSwitched, let routes else { return }
        let before = move.told.map(\.statement.peer)
        state(&move)
        let due = move.due(now: EventLoop.now)
        own = move
        // A peer that was paired, or has moved, in the meantime.
        if move.told.map(\.statement.peer) != before { save(move) { _ in } }
        for told in due {
            let frame = RekeyFrame.statement(told.statement)
            if move.isAsking { say(frame, to: told.peer) } else { announce(frame.json, to: told.peer, over: routes) }
        }
        if let deadline = own?.deadline { timer.start(at: deadline) }
    }

    /// In plain text: the peer does not know the new key. It may have a new one itself.
    private func announce(_ frame: JSONValue, to peer: PeerID, over routes: Routes) {
        for route in routes.routes(of: peer) where routes.isOnline(route) {
            for id in [peer] + peers.successors(of: peer) {
                _ = routes.link(route)?.send(to: id, payload: frame, sealed: false)
            }
        }
    }

    // MARK: The store

    private func save(_ move: OwnMove, then: @escaping @Sendable @EventLoop (StoreError?) -> Void) {
        store({ (tables) throws(StoreError) in try tables.save(move) }, then)
    }

    private func save(
        _ moves: PeerMoves, of peer: PeerID, then: @escaping @Sendable @EventLoop (StoreError?) -> Void
    ) {
        store({ (tables) throws(StoreError) in try tables.save(moves, of: peer) }, then)
    }

    private func store(
        _ work: @escaping @Sendable (MoveTables) throws(StoreError) -> Void,
        _ then: @escaping @Sendable @EventLoop (StoreError?) -> Void
    ) {
        database.submit { (connection) throws(StoreError) in
            try work(MoveTables(connection))
        } then: { result in
            EventLoop.post { [self] in
                guard case .failure(let error) = result else { return then(nil) }
                if error.code != .closed {
                    handler(.problem("could not store a move to another key: \(error.message)"))
                }
                then(error)
            }
        }
    }
}

extension SealError.Code {
    /// A move that was announced, and that no user has approved.
    package static var unapprovedMove: Self { SealError.Code("unapproved_move") }
    /// A move that was announced while no more keys can be refused.
    static var tooManyRevoked: Self { SealError.Code("too_many_revoked") }
}
