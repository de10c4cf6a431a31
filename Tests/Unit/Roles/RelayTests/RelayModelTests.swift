import JSON
import TestSupport
import Testing

@testable import Relay

/// Random events against the machine, and a simple model of who may hear what.
@Suite("No sequence of events breaks the relay's rules")
struct RelayModelTests {
    private struct Model {
        /// What each open connection has registered.
        var owners: [ConnectionID: String] = [:]
        var open: [ConnectionID] = []
        /// The next number for each pair of sender and target, and the last that arrived.
        var sent: [String: Int] = [:]
        var arrived: [String: Int] = [:]
        /// Who has sent to whom.
        var sentTo: Set<[String]> = []

        func haveTalked(_ one: String, _ other: String) -> Bool {
            sentTo.contains([one, other]) && sentTo.contains([other, one])
        }
    }

    @Test("a socket owns one id, from is true, order holds, nobody hears what is not theirs", arguments: 1...12)
    func randomEvents(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var bench = Bench {
            $0.storage.maximumStoredPerPeer = 5
            $0.storage.maximumAbsentPeers = 6
            $0.names.maximumAcquaintancesPerPeer = 4
            $0.names.maximumAcquaintances = 12
            $0.admission.registerWithin = 500
            $0.storage.storedFor = 2_000
        }
        var model = Model()
        let names = (0..<9).map { "peer\($0)" } + ["pairing-code:123456", "pairing-code:654321"]

        for step in 0..<4_000 {
            let connection = model.open.randomElement(using: &generator)
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<12 where model.open.count < 20:
                model.open.append(bench.open(from: "192.0.2.\(Int.random(in: 0..<4, using: &generator))"))
            case 12..<20:
                guard let connection else { continue }
                bench.close(connection)
                model.open.removeAll { $0 == connection }
                model.owners[connection] = nil
            case 20..<40:
                guard let connection, let name = names.randomElement(using: &generator) else { continue }
                bench.receive(#"{"type":"register","peerId":"\#(name)"}"#, from: connection)
            case 40..<80:
                guard let connection, let to = names.randomElement(using: &generator) else { continue }
                let from = model.owners[connection]
                let pair = "\(from ?? "nobody")>\(to)"
                let number = model.sent[pair, default: 0]
                if let from {
                    model.sent[pair] = number + 1
                    model.sentTo.insert([from, to])
                }
                bench.receive(
                    #"{"type":"message","to":"\#(to)","from":"forged","payload":{"to":"\#(to)","n":\#(number)}}"#,
                    from: connection)
            case 80..<84:
                guard let connection else { continue }
                bench.receive(#"{"type":"get-peers"}"#, from: connection)
            case 84..<90:
                if !bench.probes.isEmpty { bench.endProbe(answered: Bool.random(using: &generator)) }
            case 90..<95:
                if !bench.awaited.isEmpty { bench.endWrite() }
            case 95..<98:
                bench.advance(UInt64.random(in: 1...300, using: &generator))
                bench.tick()
                bench.machine.sweep(at: bench.moment)
            default:
                guard let connection else { continue }
                bench.receive(#"{"type":"nonsense""#, from: connection)
            }
            // A slow close handshake: those closed by the machine go at once here.
            let outgoing = bench.takeAll()
            for (to, frame) in outgoing { check(frame, to: to, &model, step) }
            for (id, _) in bench.takeClosed() {
                bench.close(id)
                model.open.removeAll { $0 == id }
                model.owners[id] = nil
                for (to, frame) in bench.takeAll() { check(frame, to: to, &model, step) }
            }
            checkBounds(bench, model)
        }
    }

    private func check(_ frame: [UInt8], to id: ConnectionID, _ model: inout Model, _ step: Int) {
        guard let json = frame.json, let type = json["type"]?.string else {
            Issue.record("step \(step): what was sent is no frame: \(frame.text)")
            return
        }
        #expect(model.open.contains(id), "step \(step): \(type) to a connection that is closed")
        let owned = model.owners[id]
        switch type {
        case "registered":
            guard let name = json["peerId"]?.string else { return }
            for (other, owned) in model.owners where owned == name && other != id {
                // Only an owner that is being closed may have held it.
                model.owners[other] = nil
            }
            model.owners[id] = name
        case "message", "offline-message":
            let message = type == "message" ? json : json["originalMessage"]
            guard let from = message?["from"]?.string, let to = message?["payload"]?["to"]?.string,
                let number = message?["payload"]?["n"]?.integer
            else {
                Issue.record("step \(step): a message without from or payload")
                return
            }
            #expect(from != "forged")
            #expect(owned == to, "step \(step): a message for \(to) went to \(owned ?? "nobody")")
            #expect(type == "message" || !to.hasPrefix("pairing-code:"))
            let pair = "\(from)>\(to)"
            #expect(Int(number) < model.sent[pair, default: 0], "step \(step): a message that \(from) never sent")
            // A kept frame may come again after a connection that broke; a live one never.
            if type == "message" {
                #expect(Int(number) >= model.arrived[pair, default: 0], "step \(step): out of order")
                model.arrived[pair] = Int(number) + 1
            }
        case "peer-status":
            guard let about = json["peerId"]?.string, let owned else {
                Issue.record("step \(step): presence to one who is not registered")
                return
            }
            let haveTalked = model.haveTalked(about, owned)
            #expect(haveTalked, "step \(step): presence of \(about) to a stranger")
            #expect(!about.hasPrefix("pairing-code:"))
        case "peers-list":
            for entry in json["peers"]?.array ?? [] {
                guard let about = entry["peerId"]?.string, let owned else { continue }
                #expect(model.haveTalked(about, owned))
                #expect(model.owners.values.contains(about))
            }
        case "peer-offline", "error", "pong": break
        default: Issue.record("step \(step): an unexpected \(type)")
        }
    }

    private func checkBounds(_ bench: Bench, _ model: Model) {
        #expect(bench.machine.connectionCount == model.open.count)
        #expect(bench.machine.registeredCount == Set(model.owners.values).count)
        #expect(
            bench.machine.registeredCount == model.owners.count, "an id belongs to one socket, a socket owns one id")
        #expect(bench.machine.doorkeeper.unregistered == model.open.count - model.owners.count)
        #expect(bench.machine.absent.peerCount <= 6)
        #expect(bench.machine.absent.frameCount <= 30)
        #expect(bench.machine.acquaintances.count <= 12)
    }
}
