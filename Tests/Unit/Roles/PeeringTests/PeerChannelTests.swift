import Identity
import JSON
import Sealing
import Signalling
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Hosting
@testable import Peering

/// A link that is up, and keeps what it is given.
@EventLoop
private final class StubLink: RouteLink {
    var state = LinkState.online
    let relay: RelayFacts? = RelayFacts(isProved: true, senderNaming: .byRelay)
    var result = SendResult.written
    private(set) var sent: [(peer: PeerID, payload: JSONValue, isSealed: Bool)] = []

    func start() {}
    func stop() {}
    func suspend() {}
    func resume() {}
    func rest(_ isResting: Bool) {}
    func reconnectNow() {}

    func send(to peer: PeerID, payload: JSONValue, sealed: Bool) -> SendResult {
        sent.append((peer, payload, sealed))
        return result
    }
}

@Suite(.timeLimit(.minutes(1))) struct PeerChannelTests {
    /// A channel of ours, and a peer's sealer.
    private struct Bench {
        let channel: PeerChannel
        let peer: Sealer
        let own: PeerID
        let database: Database

        @EventLoop init() throws {
            try Identity.start()
            let (own, other) = (try SigningKey.generate(), try SigningKey.generate())
            database = try Database.open(path: ":memory:", migrations: SealStates.migrations).database
            channel = PeerChannel(key: own, seal: RoleState.Seal(epoch: 1, windows: [:]), database: database)
            peer = Sealer(key: other, epoch: 1)
            self.own = PeerID(own.did)
        }

        @EventLoop func sealed(_ body: JSONObject = ["type": "x"]) throws -> PeerMessage {
            message(.object(try peer.seal(body, to: own, now: 5)))
        }

        @EventLoop func message(_ payload: JSONValue) -> PeerMessage {
            PeerMessage(from: peer.id, payload: payload, timestamp: nil, delivery: .live)
        }
    }

    init() throws { try EventLoop.start() }

    @Test("a frame that could not be sealed keeps its own reason: it is not larger than 1 MiB")
    @EventLoop func sealFailures() throws {
        let bench = try Bench()
        let link = StubLink()
        let noKey = bench.channel.send(["type": "x"], to: PeerID("no-key"), sealed: true, over: link)
        guard case .unsealable(let error) = noKey else {
            Issue.record("sealed to nobody: \(noKey)")
            return
        }
        #expect(error.code == .noKey && !noKey.isTooLarge && !noKey.isWritten)
        let failure = try #require(noKey.failure(of: "the command", to: "Desk"))
        #expect(failure.code == .unsupported && failure.detail["reason"] == "no_key")
        #expect(!failure.message.contains("1 MiB"))

        let large: JSONValue = ["type": "x", "text": .string(String(repeating: "x", count: 800 * 1_024))]
        let tooLarge = bench.channel.send(large, to: bench.peer.id, sealed: true, over: link)
        #expect(tooLarge.isTooLarge)
        #expect(tooLarge.failure(of: "the command", to: "Desk")?.code == .limit)
        #expect(link.sent.isEmpty)
    }

    @Test("what a link answers is told as it is")
    @EventLoop func sendResults() throws {
        let bench = try Bench()
        let link = StubLink()
        #expect(bench.channel.send(["type": "x"], to: bench.peer.id, sealed: true, over: link) == .written)
        #expect(link.sent.first?.isSealed == true)
        #expect(link.sent.first?.payload["type"] == .string(SealedEnvelope.type))
        #expect(bench.channel.send(["type": "x"], to: bench.peer.id, sealed: false, over: link) == .written)
        #expect(link.sent.last?.payload == ["type": "x"] && link.sent.last?.isSealed == false)
        link.result = .congested
        let congested = bench.channel.send(["type": "x"], to: bench.peer.id, sealed: true, over: link)
        #expect(congested == .congested && congested.failure(of: "it", to: "Desk")?.code == .offline)
        link.result = .tooLarge
        #expect(bench.channel.send(["type": "x"], to: bench.peer.id, sealed: true, over: link).isTooLarge)
        link.state = .connecting
        #expect(bench.channel.send(["type": "x"], to: bench.peer.id, sealed: true, over: link) == .offline)
        #expect(bench.channel.send(["type": "x"], to: bench.peer.id, sealed: true, over: nil) == .offline)
        #expect(Sent.written.failure(of: "it", to: "Desk") == nil)
    }

    @Test("each kind of sender gets what its pairing allows, and every drop is counted once")
    @EventLoop func openings() throws {
        let bench = try Bench()
        let channel = bench.channel
        func kind(_ message: PeerMessage, _ sender: PeerChannel.Sender, mayPair: Bool = false) -> String {
            switch channel.open(message, of: sender, mayPair: mayPair) {
            case .ofPeer(let incoming): incoming.isSealed ? "peer sealed" : "peer plain"
            case .ofStranger(let incoming): incoming.isSealed ? "stranger sealed" : "stranger plain"
            case .plainOfSecure: "plain of secure"
            case .stale: "stale"
            case .handled: "handled"
            case .counted(.unknownSender): "unknown"
            case .counted(.revoked): "revoked"
            case .counted(.unopened(let error)): error.code.name
            }
        }
        let plain = bench.message(["type": "x"])
        #expect(kind(plain, .unknown) == "stranger plain")
        #expect(kind(plain, .plain) == "peer plain")
        #expect(kind(plain, .secure) == "plain of secure")
        #expect(kind(try bench.sealed(), .unknown) == "unknown")
        #expect(kind(try bench.sealed(), .plain) == "unknown", "a plain pairing gives no right to seal")
        #expect(kind(try bench.sealed(), .unknown, mayPair: true) == "stranger sealed")
        let once = try bench.sealed()
        #expect(kind(once, .secure) == "peer sealed")
        #expect(kind(once, .secure) == "replayed")
        let text = bench.message(.string(try bench.sealed().payload.serialized()))
        #expect(kind(text, .secure) == "peer sealed", "a payload may be a text")
        #expect(kind(bench.message(["type": .string(SealedEnvelope.type)]), .secure) == "malformed")
        channel.revoke(bench.peer.id)
        for sender in [PeerChannel.Sender.unknown, .plain, .secure] {
            #expect(kind(try bench.sealed(), sender, mayPair: true) == "revoked")
            #expect(kind(plain, sender, mayPair: true) == "revoked")
        }
        channel.readmit(bench.peer.id)
        #expect(kind(try bench.sealed(), .secure) == "peer sealed")
        let counters = channel.counters
        #expect(counters.revoked == 6)
        #expect(counters.unknownSenders == 2 && counters.plainOfSecure == 1)
        #expect(counters.unopened.replayed == 1 && counters.unopened.malformed == 1 && counters.replayed == 1)
        bench.database.close()
    }

    @Test("a mark has its effect once, and the second time is counted as a replay")
    @EventLoop func once() async throws {
        let bench = try Bench()
        guard case .ofPeer(let incoming) = bench.channel.open(try bench.sealed(), of: .secure, mayPair: false) else {
            Issue.record("it was not opened")
            return
        }
        #expect(incoming.payload == ["type": "x"] && incoming.sealedAt == 5 && incoming.isLive)
        let told = Mailbox<String>()
        for mark in [incoming.mark, incoming.mark, nil] {
            bench.channel.once(mark) { once in
                switch once {
                case .first: told.put("first")
                case .replayed: told.put("replayed")
                case .failed(let error): told.put(error.code.name)
                }
            }
        }
        #expect(told.all == ["first"], "plain frames are not recorded, and do not wait")
        _ = try await told.next()
        #expect(try await told.next() == "first")
        #expect(try await told.next() == "replayed")
        #expect(bench.channel.counters.replayedInStore == 1)
        bench.database.close()
        bench.channel.once(incoming.mark) { once in
            if case .failed(let error) = once { told.put(error.code.name) }
        }
        #expect(try await told.next() == "closed")
    }
}
