import JSON
import TestSupport
import Testing
import Wire

@testable import Signalling

@Suite struct RelaySessionStateMachineTests {
    private static let registration = SignallingFrame.Register(
        peerID: "did:key:zMe", deviceType: .mobile, deviceInfo: ["name": "n"])
    private var generator = SeededGenerator(seed: 7)
    private var machine = RelaySessionStateMachine(registration: registration)

    private mutating func received(_ frame: SignallingFrame, at now: UInt64) -> RelaySessionStateMachine.ReceivedAction
    {
        machine.received(frame, now: now, using: &generator)
    }

    private mutating func goOnline(at now: UInt64) {
        #expect(machine.start() == .connect)
        #expect(machine.opened(now: now) == .register(Self.registration))
        #expect(received(.registered(.init(peerID: "did:key:zMe")), at: now) == .online)
    }

    @Test("connect, register, online; each step is told")
    mutating func registering() {
        #expect(machine.connectionState == .offline(.stopped))
        #expect(machine.deadline == nil)
        #expect(machine.start() == .connect)
        #expect(machine.start() == .none)
        #expect(machine.connectionState == .connecting)
        #expect(machine.opened(now: 1_000) == .register(Self.registration))
        #expect(machine.connectionState == .registering)
        #expect(machine.deadline == 11_000)
        #expect(received(.registered(.init(peerID: nil)), at: 1_500) == .online)
        #expect(machine.connectionState == .online)
        #expect(machine.deadline == 31_500)
    }

    @Test("a session that rests tries again after ten minutes, or at once when the network has changed")
    mutating func rests() {
        _ = machine.start()
        machine.rest(true, now: 0, using: &generator)
        #expect(machine.connectionState == .connecting, "what is under way goes on")
        _ = machine.closed(OfflineReason(.closed, "gone"), now: 1_000, using: &generator)
        #expect(machine.deadline == 601_000)
        #expect(machine.deadlineReached(now: 600_999, using: &generator) == .none)
        #expect(machine.deadlineReached(now: 601_000, using: &generator) == .connect)
        _ = machine.closed(OfflineReason(.closed, "gone"), now: 602_000, using: &generator)
        #expect(machine.deadline == 1_202_000)
        #expect(machine.reconnectNow() == .connect)
        _ = machine.closed(OfflineReason(.closed, "gone"), now: 603_000, using: &generator)
        // Needed again: it does not wait out the ten minutes.
        machine.rest(false, now: 700_000, using: &generator)
        #expect((700_000...700_500).contains(machine.deadline ?? 0))
        machine.rest(true, now: 700_000, using: &generator)
        #expect(machine.deadline == 1_300_000)
        machine.rest(true, now: 900_000, using: &generator)
        #expect(machine.deadline == 1_300_000, "said again it changes nothing")
    }

    @Test("a session that stands is not touched by resting, nor is one that is stopped")
    mutating func restsOnline() {
        goOnline(at: 0)
        let deadline = machine.deadline
        machine.rest(true, now: 10, using: &generator)
        #expect(machine.connectionState == .online && machine.deadline == deadline)
        _ = machine.stop()
        machine.rest(false, now: 20, using: &generator)
        #expect(machine.deadline == nil)
    }

    @Test("a relay that does not answer the registration in 10 s is dropped, and tried again")
    mutating func registrationTimeout() {
        _ = machine.start()
        _ = machine.opened(now: 0)
        #expect(machine.deadlineReached(now: 9_999, using: &generator) == .none)
        guard case .drop(let reason) = machine.deadlineReached(now: 10_000, using: &generator) else {
            Issue.record("not dropped")
            return
        }
        #expect(reason.code == .registrationTimedOut)
        #expect(machine.connectionState == .offline(reason))
        #expect((10_000...10_500).contains(machine.deadline ?? 0))
        let due = machine.deadline ?? 0
        #expect(machine.deadlineReached(now: due, using: &generator) == .connect)
        #expect(machine.opened(now: due) == .register(Self.registration))
    }

    @Test("an error before `registered` refuses the registration; after it, the owner is told and the session goes on")
    mutating func errors() {
        _ = machine.start()
        _ = machine.opened(now: 0)
        guard case .drop(let reason) = received(.error("id in use"), at: 5) else {
            Issue.record("not dropped")
            return
        }
        #expect(reason.code == .registrationRefused)
        #expect(reason.message.contains("id in use"))
        _ = machine.deadlineReached(now: 10_000, using: &generator)
        _ = machine.opened(now: 10_000)
        _ = received(.registered(.init(peerID: nil)), at: 10_000)
        #expect(received(.error("no such peer"), at: 10_001) == .deliver(.refused("no such peer")))
        #expect(machine.connectionState == .online)
    }

    @Test("a relay that registers another id than ours is dropped")
    mutating func anotherID() {
        _ = machine.start()
        _ = machine.opened(now: 0)
        guard case .drop(let reason) = received(.registered(.init(peerID: "pc-1")), at: 5) else {
            Issue.record("not dropped")
            return
        }
        #expect(reason.code == .registrationRefused)
    }

    @Test("frames are told to the owner, stored ones like live ones with their time")
    mutating func delivery() {
        goOnline(at: 0)
        let message = SignallingFrame.Message(to: "x", from: "pc", payload: "p", timestamp: 3)
        #expect(
            received(.message(message), at: 1)
                == .deliver(.message(.init(from: "pc", payload: "p", timestamp: 3, delivery: .live))))
        #expect(
            received(.offlineMessage(.init(original: .message(message), storedAt: 9)), at: 1)
                == .deliver(.message(.init(from: "pc", payload: "p", timestamp: 3, delivery: .stored(at: 9)))))
        let routed = SignallingFrame.Routed(kind: .pairingConfirmation, from: "pc")
        #expect(received(.routed(routed), at: 1) == .deliver(.routed(routed, delivery: .live)))
        #expect(
            received(.offlineMessage(.init(original: .routed(routed))), at: 1)
                == .deliver(.routed(routed, delivery: .stored(at: nil))))
        #expect(received(.peerOffline(.init(peerID: "pc")), at: 1) == .deliver(.peerOffline("pc")))
        #expect(
            received(.peerStatus(.init(peerID: "pc", isOnline: true)), at: 1)
                == .deliver(.peerStatus("pc", isOnline: true)))
        #expect(received(.ping, at: 1) == .sendPong)
        for frame in [SignallingFrame.pong(timestamp: 1), .other(type: "peers-list"), .registered(.init(peerID: "q"))] {
            #expect(received(frame, at: 1) == .ignore)
        }
    }

    @Test("a message without a `from` is malformed, never somebody's")
    mutating func noSender() {
        goOnline(at: 0)
        guard case .deliver(.malformed(let error)) = received(.message(.init(to: "me", payload: [:])), at: 1) else {
            Issue.record("not malformed")
            return
        }
        #expect(error.code == .missingField)
    }

    @Test("the application ping goes out every 30 s, and is counted from when it went")
    mutating func keepalive() {
        goOnline(at: 0)
        #expect(machine.deadlineReached(now: 29_999, using: &generator) == .none)
        #expect(machine.deadlineReached(now: 30_500, using: &generator) == .sendPing)
        #expect(machine.deadline == 60_500)
    }

    @Test("waits grow 0.5, 1, 2, 5, 10 s at most, and never end")
    mutating func backoff() {
        _ = machine.start()
        var now: UInt64 = 0
        let reason = OfflineReason(.closed, "gone")
        for attempt in 0..<1_000 {
            #expect(machine.closed(reason, now: now, using: &generator) == .offline(reason))
            let wait = (machine.deadline ?? .max) - now
            #expect(wait <= [500, 1_000, 2_000, 5_000, 10_000][min(attempt, 4)])
            now += wait
            #expect(machine.deadlineReached(now: now, using: &generator) == .connect)
        }
    }

    @Test("only a registration that lasted 10 s starts the backoff anew")
    mutating func lastingRegistration() {
        goOnline(at: 0)
        let reason = OfflineReason(.closed, "gone")
        var now: UInt64 = 0
        for _ in 0..<6 {
            _ = machine.closed(reason, now: now, using: &generator)
            now = machine.deadline ?? now
            _ = machine.deadlineReached(now: now, using: &generator)
            _ = machine.opened(now: now)
            _ = received(.registered(.init(peerID: nil)), at: now)
            now += 9_999
        }
        #expect(machine.backoff.step == 4)
        now += 1
        _ = machine.closed(reason, now: now, using: &generator)
        #expect((machine.deadline ?? .max) - now <= 500)
    }

    @Test("a relay that goes down is left at once, and the return is spread over two seconds or more")
    mutating func serverShutdown() {
        var longest: UInt64 = 0
        for seed in 0..<200 {
            generator = SeededGenerator(seed: UInt64(seed))
            machine = RelaySessionStateMachine(registration: Self.registration)
            goOnline(at: 0)
            guard case .drop(let reason) = received(.serverShutdown, at: 20_000) else {
                Issue.record("not dropped")
                return
            }
            #expect(reason.code == .serverShutdown)
            let wait = (machine.deadline ?? .max) - 20_000
            #expect(wait <= 2_000)
            longest = max(longest, wait)
        }
        #expect(longest > 1_800)
    }

    @Test("stop ends it in every state, and what comes afterwards is nobody's")
    mutating func stop() {
        #expect(machine.stop() == .none)
        _ = machine.start()
        #expect(machine.stop() == .closeConnection)
        #expect(machine.opened(now: 1) == .closeConnection)
        #expect(received(.registered(.init(peerID: nil)), at: 1) == .ignore)
        #expect(machine.closed(.stopped, now: 1, using: &generator) == .none)
        #expect(machine.deadline == nil)
        goOnline(at: 0)
        #expect(machine.stop() == .closeConnection)
        _ = machine.start()
        _ = machine.closed(.stopped, now: 1, using: &generator)
        #expect(machine.stop() == .none)
        #expect(machine.reconnectNow() == .none)
    }

    @Test("resuming connects without a wait, whatever the backoff; a stopped session stays stopped")
    mutating func reconnect() {
        #expect(machine.reconnectNow() == .none)
        _ = machine.start()
        for _ in 0..<5 {
            _ = machine.closed(OfflineReason(.closed, "x"), now: 0, using: &generator)
            _ = machine.deadlineReached(now: .max, using: &generator)
        }
        _ = machine.closed(OfflineReason(.closed, "x"), now: 0, using: &generator)
        #expect(machine.reconnectNow() == .connect)
        #expect(machine.backoff.step == 0)
        _ = machine.opened(now: 0)
        #expect(machine.reconnectNow() == .replaceConnection)
        #expect(machine.connectionState == .connecting)
    }

    @Test("suspended it closes and forgets, resumed it connects at once; who was stopped stays so")
    mutating func suspend() {
        #expect(machine.suspend() == .none)
        #expect(machine.connectionState == .offline(.stopped))
        #expect(machine.resume() == .none)
        #expect(machine.resume() == .none)
        goOnline(at: 0)
        #expect(machine.suspend() == .closeConnection)
        #expect(machine.suspend() == .none)
        #expect(machine.connectionState == .offline(.suspended))
        #expect(machine.connectionState.problem == nil)
        #expect(machine.deadline == nil)
        #expect(machine.reconnectNow() == .none, "a change of the network does not wake it")
        #expect(machine.start() == .none)
        #expect(machine.resume() == .connect)
        #expect(machine.resume() == .none)
        #expect(machine.connectionState == .connecting)
        // Asleep while it waited for its next attempt: none of the backoff is left.
        for _ in 0..<5 {
            _ = machine.closed(OfflineReason(.closed, "x"), now: 0, using: &generator)
            _ = machine.deadlineReached(now: .max, using: &generator)
        }
        _ = machine.closed(OfflineReason(.closed, "x"), now: 0, using: &generator)
        #expect(machine.suspend() == .none)
        #expect(machine.resume() == .connect)
        #expect(machine.backoff.step == 0)
        // Started while the machine sleeps, it begins when it wakes; stopped there, it does not.
        _ = machine.stop()
        _ = machine.suspend()
        #expect(machine.start() == .none)
        #expect(machine.connectionState == .offline(.suspended))
        #expect(machine.stop() == .none)
        #expect(machine.resume() == .none)
        #expect(machine.connectionState == .offline(.stopped))
    }

    @Test("times at the end of the clock do not trap")
    mutating func endOfTime() {
        _ = machine.start()
        _ = machine.opened(now: .max)
        #expect(machine.deadline == .max)
        _ = received(.registered(.init(peerID: nil)), at: .max)
        _ = machine.closed(OfflineReason(.closed, "x"), now: 0, using: &generator)
        #expect(machine.deadline ?? .max <= 1_000)
    }

    @Test("no sequence of events breaks it: 200 seeds of 500 events", arguments: 0..<200)
    mutating func model(seed: Int) {
        var model = SessionModel(seed: UInt64(seed))
        for _ in 0..<500 { model.step() }
        model.finish()
    }
}

/// The owner, as the machine believes it to be: it carries the actions out on one imaginary socket.
private struct SessionModel {
    private static let nonce = String(repeating: "A", count: 43)
    private let registration: SignallingFrame.Register
    private var machine: RelaySessionStateMachine
    private var isSuspended = false
    /// On this socket.
    private var proofs = 0
    private var random: SeededGenerator
    private var jitter: SeededGenerator
    private var now: UInt64 = 0
    private var hasSocket = false
    private var isOpen = false

    init(seed: UInt64) {
        var registration = SignallingFrame.Register(peerID: "did:key:zMe", deviceType: .mobile)
        machine = RelaySessionStateMachine(registration: registration, proves: seed % 2 == 0)
        registration.bellwire = seed % 2 == 0 ? 1 : nil
        self.registration = registration
        random = SeededGenerator(seed: seed)
        jitter = SeededGenerator(seed: ~seed)
    }

    private mutating func connect() {
        #expect(!hasSocket, "a second socket")
        hasSocket = true
        isOpen = false
        proofs = 0
    }

    private mutating func drop() {
        #expect(hasSocket, "no socket to drop")
        hasSocket = false
    }

    private mutating func frame() -> SignallingFrame {
        let frames: [SignallingFrame] = [
            .registered(.init(peerID: "did:key:zMe")), .registered(.init(peerID: nil)),
            .registered(.init(peerID: "did:key:zMe")), .registered(.init(peerID: "pc")), .error("no"),
            .message(.init(to: "pc", from: "pc", payload: [:])), .message(.init(payload: [:])),
            .offlineMessage(.init(original: .message(.init(from: "pc", payload: [:])), storedAt: 1)),
            .register(.init(peerID: "pc")), .peerOffline(.init(peerID: "pc")), .ping, .pong(timestamp: nil),
            .challenge(nonce: Self.nonce), .challenge(nonce: Self.nonce), .challenge(nonce: "short"),
            .serverShutdown, .other(type: "x"), .routed(.init(kind: .offer, from: "pc")),
        ]
        return frames.randomElement(using: &random) ?? .ping
    }

    mutating func step() {
        now += UInt64.random(in: 0...6_000, using: &random)
        let before = machine.connectionState
        switch Int.random(in: 0..<18, using: &random) {
        case 0: if machine.start() == .connect { connect() }
        case 1:
            if machine.stop() == .closeConnection { drop() }
            #expect(machine.connectionState == .offline(.stopped))
        case 16:
            if machine.suspend() == .closeConnection { drop() }
            isSuspended = true
            #expect(machine.connectionState == .offline(before == .offline(.stopped) ? .stopped : .suspended))
        case 17:
            if machine.resume() == .connect {
                connect()
                #expect(before == .offline(.suspended))
            }
            isSuspended = false
            #expect(machine.connectionState != .offline(.suspended))
        case 2:
            switch machine.reconnectNow() {
            case .connect: connect()
            case .replaceConnection:
                drop()
                connect()
            case .none: #expect(before == .offline(.stopped) || before == .offline(.suspended))
            }
        case 3, 4, 5:
            guard hasSocket, !isOpen else { break }
            isOpen = true
            switch machine.opened(now: now) {
            case .register(let registration): #expect(registration == self.registration)
            case .closeConnection: Issue.record("a socket that the machine does not know")
            }
        case 6:
            guard hasSocket else { break }
            hasSocket = false
            let reason = OfflineReason(.closed, "gone")
            #expect(machine.closed(reason, now: now, using: &jitter) == .offline(reason))
        case 7, 8, 9, 10, 11:
            guard hasSocket, isOpen else { break }
            let frame = frame()
            switch machine.received(frame, now: now, using: &jitter) {
            case .online:
                #expect(before == .registering)
                #expect(machine.connectionState == .online)
            case .prove(let nonce, _):
                #expect(before == .registering && nonce == Self.nonce && registration.bellwire == 1)
                proofs += 1
                #expect(proofs == 1, "a second proof on one connection")
                if Bool.random(using: &random) {
                    guard case .drop = machine.cannotProve("no", now: now, using: &jitter) else {
                        Issue.record("not dropped")
                        break
                    }
                    drop()
                }
            case .drop: drop()
            case .registerAgain, .sendAsStranger, .deliver, .sendPong, .ignore:
                #expect(machine.connectionState == before)
            }
        default: timer()
        }
        check()
    }

    private mutating func timer() {
        guard let deadline = machine.deadline else { return }
        now = max(now, deadline)
        switch machine.deadlineReached(now: now, using: &jitter) {
        case .connect: connect()
        case .sendPing, .probe, .deliver: #expect(machine.connectionState == .online)
        case .drop: drop()
        case .none: Issue.record("nothing to do at the deadline")
        }
    }

    private func check() {
        #expect(machine.registration == registration)
        #expect(!machine.isProved || proofs == 1 && machine.connectionState == .online)
        switch machine.connectionState {
        case .offline(let reason):
            #expect(!hasSocket)
            #expect((machine.deadline == nil) == (reason == .stopped || reason == .suspended))
            #expect(reason != .suspended || isSuspended)
            #expect((machine.deadline ?? now) <= now + 10_000)
        case .connecting: #expect(hasSocket && !isOpen)
        case .registering, .online: #expect(hasSocket && isOpen && machine.deadline != nil)
        }
    }

    /// Left alone with a good relay, it comes online: it never gives up.
    mutating func finish() {
        if machine.start() == .connect { connect() }
        if machine.resume() == .connect { connect() }
        for _ in 0..<4 where machine.connectionState != .online {
            switch machine.connectionState {
            case .offline: timer()
            case .connecting:
                isOpen = true
                _ = machine.opened(now: now)
            case .registering: _ = machine.received(.registered(.init(peerID: nil)), now: now, using: &jitter)
            case .online: break
            }
        }
        #expect(machine.connectionState == .online)
    }
}
