#if DEBUG
    import Identity
    package import JSON
    import Signalling
    package import Transport
    package import Wire

    @testable import Relay

    /// A relay without sockets: runs the real relay's state machine on the event loop, frame by frame.
    ///
    /// A test can make it hostile: ``filter`` loses, holds back or forges frames on their way to a peer.
    @EventLoop
    package final class MemoryRelay {
        /// A frame on its way to a registered peer.
        package struct Frame: Sendable {
            package let to: PeerID
            package var json: JSONValue

            package var type: String? { json["type"]?.string }
            package var from: String? { json["from"]?.string }
        }

        package enum Verdict: Sendable {
            case pass
            case lose
            /// Kept back until ``release(reversed:)``.
            case keepBack
            /// Deliver these instead, in this order.
            case replace([Frame])
        }

        package nonisolated let url: String
        /// Decides about each frame to a registered peer, except answers to registrations.
        package var filter: @EventLoop (Frame) -> Verdict = { _ in .pass }
        /// Frames held back by the filter.
        package private(set) var keptBack: [Frame] = []
        package private(set) var isUp = true

        private var machine = MemoryRelay.newMachine()
        private var ends: [ConnectionID: any MemoryEnd] = [:]
        private var names: [ConnectionID: PeerID] = [:]
        private var barred: Set<PeerID> = []
        private var nonces: UInt8 = 0
        /// Links that were refused or lost; they reconnect with ``revive()`` or ``admit(_:)``.
        private var away: [WeakLink] = []

        private struct WeakLink {
            weak var link: MemoryLink?
        }

        init(_ url: String) {
            self.url = url
            machine.origins = [Array(((try? WebSocketURL(url))?.origin ?? url).utf8)]
        }

        private static func newMachine() -> RelayStateMachine {
            var options = RelayOptions()
            options.traffic.maximumFramesPerSecond = 0
            return RelayStateMachine(limits: options.limits, proved: ProvedIDs(limit: options.names.maximumProvedIDs))
        }

        // MARK: Test controls

        /// Ends every connection and refuses new ones. Frames stored for absent peers are lost.
        package func kill() {
            isUp = false
            let ended = ends
            let origins = machine.origins
            (ends, names, keptBack) = ([:], [:], [])
            machine = Self.newMachine()
            machine.origins = origins
            for end in ended.values { end.closed("the relay has died") }
        }

        /// Accepts connections again. Lost links reconnect at once.
        package func revive() {
            isUp = true
            for link in takeAway(where: { _ in true }) { link.reconnectNow() }
        }

        /// Ends a peer's connection. Its link reconnects after its backoff, or at once with `reconnectNow()`.
        package func cut(_ peer: PeerID) {
            for (id, name) in names where name == peer { end(id, "the connection was cut") }
        }

        /// Ends a peer's connection and refuses new ones until ``admit(_:)``, so that it is absent here.
        package func bar(_ peer: PeerID) {
            barred.insert(peer)
            cut(peer)
        }

        package func admit(_ peer: PeerID) {
            barred.remove(peer)
            for link in takeAway(where: { $0.registration.peerID == peer }) { link.reconnectNow() }
        }

        /// Delivers the held frames, in order or last first.
        package func release(reversed: Bool = false) {
            let frames = reversed ? keptBack.reversed() : keptBack
            keptBack = []
            for frame in frames { say(frame.json, to: frame.to) }
        }

        /// Delivers any frame to whoever has registered that id, bypassing the filter.
        package func say(_ frame: JSONValue, to peer: PeerID) {
            for (id, name) in names where name == peer { ends[id]?.deliver(Array(frame.serialized().utf8)) }
        }

        /// The ids registered now.
        package var registered: Set<PeerID> { Set(names.values) }

        /// A scripted peer, registered without a proof.
        package func peer(_ name: String) -> MemoryPeer {
            let peer = MemoryPeer(name, at: self)
            peer.register()
            return peer
        }

        // MARK: Connections

        private var now: Moment { Moment(monotonic: EventLoop.now, epoch: .now) }

        /// `nil` = connections of that peer are refused.
        func open(_ end: any MemoryEnd, of peer: PeerID) -> ConnectionID? {
            guard isUp, !barred.contains(peer) else { return nil }
            let id = machine.opened(from: "127.0.0.1", isLoopback: true, at: now)
            ends[id] = end
            return id
        }

        func wasLost(_ link: MemoryLink) {
            away.removeAll { $0.link == nil || $0.link === link }
            away.append(WeakLink(link: link))
        }

        func closed(_ id: ConnectionID) {
            guard ends.removeValue(forKey: id) != nil else { return }
            names[id] = nil
            perform(machine.closed(id, at: now))
        }

        func received(_ text: [UInt8], from id: ConnectionID) {
            guard ends[id] != nil else { return }
            let now = now
            let action = text.withUnsafeBytes { machine.received($0, from: id, at: now) }
            switch action {
            case .none: break
            case .forward(let target, let frame): send(text.withUnsafeBytes { frame.bytes(of: $0) }, to: target)
            // There are no other relays.
            case .elsewhere: break
            case .perform(let actions): perform(actions)
            }
        }

        private func end(_ id: ConnectionID, _ why: String) {
            guard let end = ends[id] else { return }
            closed(id)
            end.closed(why)
        }

        private func takeAway(where isWanted: (MemoryLink) -> Bool) -> [MemoryLink] {
            let links = away.compactMap(\.link).filter(isWanted)
            away.removeAll { weak in weak.link == nil || links.contains { $0 === weak.link } }
            return links
        }

        // MARK: Performing actions

        private func perform(_ actions: [RelayStateMachine.Action]) {
            for action in actions {
                switch action {
                case .send(let id, let frame): send(frame, to: id)
                case .close(let id, _): end(id, "the relay closed the connection")
                // Every connected peer answers.
                case .probe(_, let peer, let claim):
                    EventLoop.post {
                        self.perform(self.machine.probeEnded(claim, of: peer, answered: true, at: self.now))
                    }
                case .awaitWritten(let id, let peer, let sequence):
                    EventLoop.post { self.machine.written(to: id, peer: peer, through: sequence) }
                case .challenge(let id):
                    nonces &+= 1
                    let nonce = TextEncoding.base64url.encode(Array(repeating: nonces, count: 32))
                    perform(machine.challenge(id, nonce: nonce, security: .plain, at: now))
                case .remember(let name, let id, let claim):
                    perform(machine.remembered(name, by: id, claim: claim, at: now))
                case .cannotRemember, .claim, .came, .left, .kept, .watch: break
                }
            }
        }

        private func send(_ bytes: [UInt8], to id: ConnectionID) {
            guard let end = ends[id] else { return }
            guard let json = try? JSONValue(parsing: bytes) else { return end.deliver(bytes) }
            if json["type"] == "registered", let peer = json["peerId"]?.string { names[id] = PeerID(peer) }
            guard let name = names[id], json["type"] != "registered", json["type"] != "challenge" else {
                return end.deliver(bytes)
            }
            let frame = Frame(to: name, json: json)
            switch filter(frame) {
            case .pass: end.deliver(bytes)
            case .lose: break
            case .keepBack: keptBack.append(frame)
            case .replace(let frames): for frame in frames { say(frame.json, to: frame.to) }
            }
        }
    }

    /// The peer's end of a connection.
    @EventLoop
    protocol MemoryEnd: AnyObject {
        func deliver(_ bytes: [UInt8])
        func closed(_ why: String)
    }
#endif
