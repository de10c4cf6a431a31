import Identity
import JSON
import TestSupport
import Testing
import Wire

@testable import Sealing

/// A device and a desktop without anything between them: frames go through their JSON, time is a number.
final class SessionBench {
    /// One of the two.
    final class Side {
        let id: PeerID
        var machine: SessionStateMachine
        var now: UInt64 = 1_000_000
        /// The next seed, where a test fixes it.
        var seed: SessionSeed?
        private(set) var seeds = 0

        init(
            key: SigningKey, peer: PeerID, role: SessionPair.Role, psk: PresharedKey, seed: SessionSeed? = nil,
            limits: SessionLimits = SessionLimits()
        ) throws {
            id = PeerID(key.did)
            let pair = try SessionPair(
                role: role, ownID: id, own: AgreementKey(key), peerID: peer, presharedKey: psk)
            machine = SessionStateMachine(pair, limits: limits)
            self.seed = seed
        }

        func register() -> [SessionStateMachine.Action] {
            var made = 0
            defer { seeds += made }
            return machine.registered(now: now) { [seed] in
                made += 1
                return seed ?? .random()
            }
        }

        func deadlineReached() -> [SessionStateMachine.Action] {
            machine.deadlineReached(now: now) { .random() }
        }

        func receive(_ payload: JSONObject) throws -> [SessionStateMachine.Action] {
            let frame = try HandshakeFrame(decoding: payload)
            return try machine.receive(frame, now: now) { [seed] in seed ?? .random() }
        }

        func refusal(of payload: JSONObject) -> SealError.Code? {
            do { _ = try receive(payload) } catch let error as SealError { return error.code } catch {}
            return nil
        }

        func open(_ payload: JSONObject) -> SessionStateMachine.Opening {
            do throws(SealError) {
                return machine.open(try SessionFrame(decoding: payload), now: now) { .random() }
            } catch {
                return .refused(error, [])
            }
        }

        func seal(_ body: JSONObject) -> SessionStateMachine.Sealing {
            machine.seal(body, timestamp: 7, now: now) { .random() }
        }
    }

    let keys: (device: SigningKey, desktop: SigningKey)
    let psk: PresharedKey
    var device: Side
    var desktop: Side
    /// What each side opened, in order.
    private(set) var received: (device: [JSONObject], desktop: [JSONObject]) = ([], [])

    init(limits: SessionLimits = SessionLimits()) throws {
        keys = (try .generate(), try .generate())
        psk = try #require(PresharedKey(.random(), deviceID: keys.device.did, desktopID: keys.desktop.did))
        device = try Side(
            key: keys.device, peer: PeerID(keys.desktop.did), role: .initiator, psk: psk, limits: limits)
        desktop = try Side(
            key: keys.desktop, peer: PeerID(keys.device.did), role: .responder, psk: psk, limits: limits)
    }

    static let hello: JSONObject = ["type": "bellwire:hello", "payload": ["v": 1, "lastPushSeq": 3]]

    func wait(_ milliseconds: UInt64) {
        device.now += milliseconds
        desktop.now += milliseconds
    }

    /// A desktop that has lost its memory.
    func restartDesktop(limits: SessionLimits = SessionLimits()) throws {
        let now = desktop.now
        desktop = try Side(
            key: keys.desktop, peer: PeerID(keys.device.did), role: .responder, psk: psk, limits: limits)
        desktop.now = now
    }

    func restartDevice(limits: SessionLimits = SessionLimits()) throws {
        let now = device.now
        device = try Side(
            key: keys.device, peer: PeerID(keys.desktop.did), role: .initiator, psk: psk, limits: limits)
        device.now = now
    }

    /// Delivers what the actions send until nothing is sent; the device says hello where it is to.
    func run(fromDevice actions: [SessionStateMachine.Action]) throws {
        for action in actions {
            switch action {
            case .send(let frame): try run(fromDesktop: desktop.receive(frame.json))
            case .greet: try deviceSends(Self.hello)
            }
        }
    }

    func run(fromDesktop actions: [SessionStateMachine.Action]) throws {
        for action in actions {
            guard case .send(let frame) = action else { continue }
            try run(fromDevice: device.receive(frame.json))
        }
    }

    func connect() throws { try run(fromDevice: device.register()) }

    /// Seals, delivers and opens; `false` if there was no session or the other side refused it.
    @discardableResult
    func deviceSends(_ body: JSONObject) throws -> Bool {
        switch device.seal(body) {
        case .sealed(let frame, let actions):
            let opening = desktop.open(frame.json)
            if let opened = opening.opened { received.desktop.append(opened.body) }
            try run(fromDevice: actions)
            try run(fromDesktop: opening.actions)
            return opening.opened != nil
        case .waiting(let actions):
            try run(fromDevice: actions)
            return false
        case .refused: return false
        }
    }

    @discardableResult
    func desktopSends(_ body: JSONObject) throws -> Bool {
        switch desktop.seal(body) {
        case .sealed(let frame, let actions):
            let opening = device.open(frame.json)
            if let opened = opening.opened { received.device.append(opened.body) }
            try run(fromDesktop: actions)
            try run(fromDevice: opening.actions)
            return opening.opened != nil
        case .waiting(let actions):
            try run(fromDesktop: actions)
            return false
        case .refused: return false
        }
    }
}

extension SessionStateMachine.Action {
    var frame: JSONObject? {
        switch self {
        case .send(let frame): frame.json
        case .greet: nil
        }
    }
}

extension SessionStateMachine.Opening {
    var opened: SessionStateMachine.Opened? {
        if case .opened(let opened, _) = self { opened } else { nil }
    }

    var code: SealError.Code? {
        if case .refused(let error, _) = self { error.code } else { nil }
    }

    var actions: [SessionStateMachine.Action] {
        switch self {
        case .opened(_, let actions), .refused(_, let actions): actions
        }
    }
}

extension SessionStateMachine.Sealing {
    var frame: SessionFrame? {
        if case .sealed(let frame, _) = self { frame } else { nil }
    }

    var actions: [SessionStateMachine.Action] {
        switch self {
        case .sealed(_, let actions), .waiting(let actions): actions
        case .refused: []
        }
    }

    var isWaiting: Bool {
        if case .waiting = self { true } else { false }
    }
}
