import JSON
@testable import Signalling
import Wire

extension FuzzTarget {
    /// One peer's session with a hostile relay: it never spins, is online only as itself, and delivers only when it is.
    static let registration = FuzzTarget("registration", limit: 1_024) { bytes in
        var input = FuzzInput(bytes)
        var generator = FuzzGenerator(UInt64(input.byte()))
        let own: PeerID = "did:key:zMe"
        var machine = RelaySessionStateMachine(
            registration: .init(peerID: own, deviceType: .mobile), proves: input.flag())
        var now: UInt64 = 1_000
        // What the session itself has sent, which a relay may send back.
        var probes: [SignallingFrame] = []

        func received(_ frame: SignallingFrame) throws {
            let before = machine.connectionState
            let action = machine.received(frame, now: now, using: &generator)
            switch action {
            case .online:
                guard case .registered(let registered) = frame else { throw FuzzFinding("online by another frame") }
                try require(registered.peerID == nil || registered.peerID == own, "online as somebody else")
            case .prove: if input.flag() { _ = machine.cannotProve("no key", now: now, using: &generator) }
            case .deliver:
                try require(before == .online || before == .registering, "something is delivered while \(before)")
            case .sendAsStranger(let frame): probes.append(frame)
            case .registerAgain(let register):
                try require(register.peerID == own, "it registers as somebody else")
            case .sendPong, .drop, .ignore: break
            }
        }

        while !input.isEmpty {
            switch input.choice(12) {
            case 0: _ = machine.start()
            case 1:
                if case .register(let register) = machine.opened(now: now) {
                    try require(register.peerID == own && register.proof == nil, "it registers another id")
                }
            case 2: _ = machine.closed(OfflineReason(.closed, "gone"), now: now, using: &generator)
            case 3: try received(.registered(.init(peerID: input.element([nil, own, own, "other"]))))
            case 4: try received(.challenge(nonce: input.flag() ? String(repeating: "A", count: 43) : input.text()))
            case 5:
                let text = input.element(["id_taken", "bad_proof", "proof_required", "", "x"])
                try received(.error(.init("no", code: text.isEmpty ? nil : text)))
            case 6:
                let frames: [SignallingFrame] = [
                    .ping, .pong(timestamp: input.integer()), .serverShutdown, .other(type: "x"),
                    .peerOffline(.init(peerID: input.element([own, "pc"]))),
                    .peerStatus(.init(peerID: "pc", isOnline: input.flag())),
                    .message(.init(from: input.element([own, "pc", nil]), payload: input.json(["type", "payload"]))),
                ]
                try received(input.element(frames))
            case 7:
                // A probe that comes back, as it was, stored, or in another's name.
                guard !probes.isEmpty, case .message(var message) = input.element(probes) else { continue }
                message.from = input.element([own, "pc", message.from])
                let isStored = input.flag()
                try received(isStored ? .offlineMessage(.init(original: .message(message))) : .message(message))
            case 8:
                switch input.choice(5) {
                case 0: _ = machine.stop()
                case 1: _ = machine.suspend()
                case 2: _ = machine.resume()
                case 3: _ = machine.reconnectNow()
                default: machine.rest(input.flag(), now: now, using: &generator)
                }
            case 9:
                if let probe = machine.senderProbe(now: now, using: &generator) { probes.append(probe) }
                if input.flag() { _ = machine.strangerRefused(now: now) }
            case 10:
                let text = input.bytes(input.choice(60))
                guard let frame = try? text.withUnsafeBytes({ try SignallingFrame(parsing: $0) }) else { continue }
                try received(frame)
            default:
                now += UInt64(input.element([1, 999, 10_000, 30_000, 600_000]))
            }
            // Every deadline that has come moves on.
            var rounds = 0
            while let deadline = machine.deadline, deadline <= now {
                if case .probe(let frame) = machine.deadlineReached(now: now, using: &generator) {
                    probes.append(frame)
                }
                rounds += 1
                try require(rounds < 32, "a deadline that never passes: \(machine.connectionState)")
            }
            probes.removeFirst(max(0, probes.count - 8))
            try require(!machine.isProved || machine.connectionState == .online, "proved and not online")
        }
    }
}
