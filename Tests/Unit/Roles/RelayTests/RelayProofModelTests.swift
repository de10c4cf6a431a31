import Identity
import JSON
import TestSupport
import Testing

@testable import Relay

/// Random proofs, good and bad, beside plain registrations, squatters and sealed messages.
@Suite("No sequence of events gives a proved id to another")
struct RelayProofModelTests {
    private struct Peer {
        let connection: ConnectionID
        /// The id that it holds, and whether it has proved it.
        var holds: (did: String, isProved: Bool)?
        /// The nonce that it was given last, if it still stands.
        var nonce: String?
        /// It has sent a proof for that id that must hold.
        var isProving: String?
    }

    @Test(
        "ids that were proved stay proved, and what is sealed reaches nobody else",
        arguments: 1...9 as ClosedRange<UInt64>)
    func randomEvents(seed: UInt64) throws {
        try Identity.start()
        var generator = SeededGenerator(seed: seed)
        let provers = try (1...4).map { try Prover($0) }
        var bench = Bench { $0.storage.maximumStoredPerPeer = 8 }
        var peers: [Peer] = []
        var everProved: Set<String> = []

        for step in 0..<1_500 {
            let index = peers.indices.randomElement(using: &generator)
            let prover = provers[Int.random(in: 0..<4, using: &generator)]
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<3 where peers.count < 12: peers.append(Peer(connection: bench.open()))
            case 3..<5:
                guard let index else { continue }
                bench.close(peers[index].connection)
                peers.remove(at: index)
            case 5..<8:
                guard let index else { continue }
                bench.receive(#"{"type":"register","peerId":"\#(prover.did)"}"#, from: peers[index].connection)
            case 8..<11:
                guard let index else { continue }
                bench.receive(prover.claim().serialized(), from: peers[index].connection)
            case 11..<14:
                guard let index else { continue }
                // The right nonce or somebody else's, the right origin or not, the right key or not.
                let nonces = peers.compactMap(\.nonce) + [String(repeating: "A", count: 43)]
                let nonce = nonces.randomElement(using: &generator) ?? ""
                let origin = Bool.random(using: &generator) ? "ws://192.0.2.5:9001" : "ws://192.0.2.6:9001"
                let signer = Bool.random(using: &generator) ? prover : provers[0]
                let isGood =
                    nonce == peers[index].nonce && origin == "ws://192.0.2.5:9001" && signer.did == prover.did
                peers[index].nonce = nil
                peers[index].isProving = isGood ? prover.did : nil
                if isGood { everProved.insert(prover.did) }
                bench.receive(
                    prover.claim(["proof": signer.proof(nonce, origin: origin)]).serialized(),
                    from: peers[index].connection)
            case 14..<17:
                guard let index else { continue }
                let isSealed = Bool.random(using: &generator)
                bench.receive(
                    #"{"type":"message","to":"\#(prover.did)","sealed":\#(isSealed),"payload":{"to":"\#(prover.did)"}}"#,
                    from: peers[index].connection)
            case 17: if !bench.probes.isEmpty { bench.endProbe(answered: Bool.random(using: &generator)) }
            case 18: if !bench.awaited.isEmpty { bench.endWrite() }
            default:
                bench.advance(UInt64.random(in: 1...4_000, using: &generator))
                for index in peers.indices { peers[index].nonce = nil }
                bench.advance(10_000)
            }
            for (to, frame) in bench.takeAll() {
                guard let index = peers.firstIndex(where: { $0.connection == to }), let json = frame.json else {
                    Issue.record("step \(step): a frame to a connection that is closed")
                    continue
                }
                read(json, at: index, &peers, everProved, step)
            }
            for (id, _) in bench.takeClosed() {
                if let index = peers.firstIndex(where: { $0.connection == id }) { peers[index].holds = nil }
            }
            check(bench, peers, step)
        }
        // With seed 4 nobody proves the right thing.
        #expect((seed == 4 || !everProved.isEmpty) && bench.machine.counters.refusedProofs > 0)
        #expect(Set(bench.remembered.map(\.text)) == everProved)
    }

    private func read(
        _ frame: JSONValue, at index: Int, _ peers: inout [Peer], _ everProved: Set<String>,
        _ step: Int
    ) {
        switch frame["type"]?.string {
        case "challenge": peers[index].nonce = frame["nonce"]?.string
        case "registered":
            guard let did = frame["peerId"]?.string else { return }
            let isProved = peers[index].isProving == did
            peers[index].isProving = nil
            #expect(isProved || !everProved.contains(did), "step \(step): a proved id without a proof")
            for other in peers.indices where peers[other].holds?.did == did { peers[other].holds = nil }
            peers[index].holds = (did, isProved)
        case "message", "offline-message":
            let message = frame["type"] == "message" ? frame : frame["originalMessage"]
            let holds = peers[index].holds
            #expect(message?["payload"]?["to"]?.string == holds?.did, "step \(step)")
            if message?["sealed"] == true {
                #expect(holds?.isProved == true, "step \(step): a sealed message to one who has proved nothing")
            }
        default: break
        }
    }

    private func check(_ bench: Bench, _ peers: [Peer], _ step: Int) {
        let held = peers.compactMap(\.holds)
        #expect(bench.machine.registeredCount == held.count, "step \(step)")
        #expect(Set(held.map(\.did)).count == held.count, "step \(step): one id, two owners")
    }
}
