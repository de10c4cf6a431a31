import Identity
import JSON
import TestSupport
import Testing
import Wire

@testable import Pairing

/// Typed codes, both sides against each other (WirePairing, "Typed codes").
@Suite struct TypedCodeTests {
    private func reason(_ state: DeviceTypedCodeState) -> PairingReason? {
        if case .failed(let failure) = state { failure.reason } else { nil }
    }

    private func reason(_ state: DesktopTypedCodeState) -> PairingReason? {
        if case .failed(let failure) = state { failure.reason } else { nil }
    }

    @Test("twelve digits: both sides are paired sealed, and see the same short string")
    func straight() throws {
        var table = TypedCodeTable()
        table.show()
        #expect(table.desktop.reported.data["code"] == "123456-789012")
        table.type("123456 789012")
        #expect(table.device.reported.data == ["flow": "code", "state": "waiting", "code": "123456"])
        table.run()
        let desktop = try #require(table.pairedDesktop)
        let device = try #require(table.pairedDevice)
        #expect(desktop.isSecure && device.isSecure)
        #expect(desktop.address == Fixture.desktop)
        #expect(desktop.name == "PC")
        #expect(desktop.relayURL == Fixture.relay.url)
        #expect(device.did == Fixture.device)
        #expect(desktop.shortString != nil)
        #expect(desktop.shortString == device.shortString)
        #expect(table.desktop.heldAlias == nil)
        #expect(table.desktop.dropped.total == 0 && table.device.dropped.total == 0)
    }

    @Test("one letter in five is lost: who says success is paired on both sides, with one string", arguments: 0..<60)
    func losses(seed: UInt64) {
        var table = TypedCodeTable(seed: seed)
        let losses = Losses(seed: seed)
        table.table.carry = { losses.loses() ? [] : [$0] }
        table.show()
        table.type()
        table.run()
        // Seven letters, each sent up to twenty times.
        #expect(table.pairedDesktop != nil)
        #expect(table.pairedDevice != nil)
        #expect(table.pairedDesktop?.shortString == table.pairedDevice?.shortString)
        #expect(table.desktop.dropped.wrongProof == 0)
    }

    @Test("every letter comes twice: nothing is counted twice")
    func doubled() {
        var table = TypedCodeTable()
        table.table.carry = { [$0, $0] }
        table.show()
        table.type()
        table.run()
        #expect(table.pairedDesktop != nil && table.pairedDevice != nil)
        #expect(table.desktop.dropped.wrongProof == 0)
    }

    @Test("a wrong password: the device is told at once, three of them burn the code, and the user is told")
    func guesses() {
        var table = TypedCodeTable()
        table.show()
        for guess in 0..<3 {
            #expect(table.desktop.isActive, "burnt after \(guess) guesses")
            table.type("123456-00000\(guess)")
            table.run()
            #expect(reason(table.device.reported) == .typedCodeUnavailable)
        }
        #expect(reason(table.desktop.reported) == .typedCodeUnavailable)
        #expect(table.desktop.reported.data["message"]?.string?.contains("three wrong codes") == true)
        #expect(table.desktop.dropped.wrongProof == 3)
        // The right one comes too late.
        table.type()
        for _ in 0..<40 { table.run() }
        #expect(table.pairedDesktop == nil && table.pairedDevice == nil)
        #expect(table.desktop.dropped.notOpen > 0)
    }

    @Test("runs that are begun and left count as guesses: the fourth burns the code")
    func parked() throws {
        var desktop = DesktopTypedCodeStateMachine()
        var random = SeededGenerator(seed: 3)
        _ = desktop.show(
            nameplate: Fixture.code("123456"), password: Fixture.code("789012"), identity: Fixture.desktopIdentity)
        _ = desktop.aliasOnline(now: Fixture.now)
        for number in 0..<4 {
            let peer = Fixture.did(UInt8(10 + number))
            let run = try CPaceInitiator(
                password: "000000", alias: "pairing-code:123456", deviceID: peer.text, using: &random)
            let step = PairingExchange(sid: run.sid, step: .deviceShare(did: peer, share: run.share)).json
            let frame = PairingFrame(reading: step, from: peer)
            // Each waits for its turn.
            let now = Fixture.now + Int64(number) * 45_000
            let actions = desktop.receivedAtAlias(frame, now: now, using: &random)
            if number < 3 {
                guard case .send(.exchange, to: _, sealed: _, _)? = actions.first else {
                    Issue.record("not answered")
                    continue
                }
                // The same again is the same run; another share under its id is none.
                #expect(desktop.receivedAtAlias(frame, now: now, using: &random) == actions)
                let other = try CPaceInitiator(
                    password: "000001", alias: "pairing-code:123456", deviceID: peer.text, using: &random)
                let forged = PairingExchange(sid: run.sid, step: .deviceShare(did: peer, share: other.share)).json
                #expect(
                    desktop.receivedAtAlias(
                        PairingFrame(reading: forged, from: peer), now: now, using: &random) == [])
            } else {
                #expect(actions.prefix(2) == [.stopTimer, .closeAlias])
            }
        }
        #expect(reason(desktop.reported) == .typedCodeUnavailable)
    }

    @Test("thousands of runs: three are answered, and nothing grows")
    func flood() throws {
        var desktop = DesktopTypedCodeStateMachine()
        var random = SeededGenerator(seed: 4)
        _ = desktop.show(
            nameplate: Fixture.code("123456"), password: Fixture.code("789012"), identity: Fixture.desktopIdentity)
        _ = desktop.aliasOnline(now: Fixture.now)
        let run = try CPaceInitiator(
            password: "000000", alias: "pairing-code:123456", deviceID: Fixture.evil.text, using: &random)
        var answers = 0
        for number in 0..<3_000 {
            let sid = TextEncoding.base64url.encode(
                (0..<16).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 4))) })
            let step = PairingExchange(sid: sid, step: .deviceShare(did: Fixture.evil, share: run.share)).json
            let actions = desktop.receivedAtAlias(
                PairingFrame(reading: step, from: Fixture.evil), now: Fixture.now + Int64(number) * 50,
                using: &random)
            if case .send(.exchange, to: _, sealed: _, _)? = actions.first { answers += 1 }
        }
        #expect(answers == 3)
        #expect(desktop.dropped.notOpen == 2_996)
    }

    /// Step 1 of somebody who guesses, under an id of its own.
    private func guess(_ seed: UInt8, using random: inout SeededGenerator) throws -> PairingFrame {
        let peer = Fixture.did(seed)
        let run = try CPaceInitiator(
            password: "000000", alias: "pairing-code:123456", deviceID: peer.text, using: &random)
        let step = PairingExchange(sid: run.sid, step: .deviceShare(did: peer, share: run.share)).json
        return PairingFrame(reading: step, from: peer)
    }

    @Test("who begins runs under new ids doesn't stop the device that knows the code, and gets three guesses at most")
    func slowedGuesser() throws {
        var table = TypedCodeTable()
        table.show()
        var seed: UInt8 = 20
        var answers = 0
        var random = SeededGenerator(seed: 9)
        for wait in [0, 4_999] as [EpochMilliseconds] {
            table.table.now += wait
            for _ in 0..<50 {
                let frame = try guess(seed, using: &random)
                let actions = table.desktop.receivedAtAlias(frame, now: table.table.now, using: &random)
                if case .send(.exchange, to: _, sealed: _, _)? = actions.first { answers += 1 }
                seed += 1
            }
            #expect(answers == 1 && table.desktop.isActive)
        }
        // The device comes while the guesser is slowed down.
        table.type()
        table.run()
        #expect(table.pairedDevice?.isSecure == true && table.pairedDesktop != nil)
        #expect(table.desktop.dropped.notOpen >= 99)
    }

    @Test("a guesser that waits each time has three guesses in a code's five minutes, and then the code is invalid")
    func patientGuesser() throws {
        var desktop = DesktopTypedCodeStateMachine()
        var random = SeededGenerator(seed: 8)
        _ = desktop.show(
            nameplate: Fixture.code("123456"), password: Fixture.code("789012"), identity: Fixture.desktopIdentity)
        _ = desktop.aliasOnline(now: Fixture.now)
        var answeredAt: [Int64] = []
        var endedAt: Int64?
        for second in 0..<200 as Range<Int64> {
            let frame = try guess(UInt8(second), using: &random)
            let actions = desktop.receivedAtAlias(frame, now: Fixture.now + second * 1_000, using: &random)
            if case .send(.exchange, to: _, sealed: _, _)? = actions.first { answeredAt.append(second) }
            if !desktop.isActive, endedAt == nil { endedAt = second }
        }
        #expect(answeredAt == [0, 5, 25])
        #expect(endedAt == 70)
        // A clock that is set back makes nobody wait for longer.
        _ = desktop.show(
            nameplate: Fixture.code("123456"), password: Fixture.code("789012"), identity: Fixture.desktopIdentity)
        _ = desktop.aliasOnline(now: Fixture.now)
        for now in [Fixture.now, Fixture.now - 1_000_000] {
            let frame = try guess(1, using: &random)
            let actions = desktop.receivedAtAlias(frame, now: now, using: &random)
            guard case .send(.exchange, to: _, sealed: _, _)? = actions.first else {
                Issue.record("not answered")
                continue
            }
        }
    }

    @Test("a relay that puts its own key between the two: no pairing comes of it, whichever side it plays")
    func swapsKeys() {
        for side in [PayloadSide.device, .desktop, .both] {
            var table = TypedCodeTable()
            table.table.carry = { letter in
                var letter = letter
                // The relay can change what is not sealed; the seals are its own then, and say so.
                guard var payload = letter.payload["payload"]?.object, payload["did"] != nil else { return [letter] }
                let isDevice = payload["step"]?.integer == 1
                guard side == .both || (side == .device) == isDevice else { return [letter] }
                payload["did"] = .string(Fixture.evil.text)
                letter.payload = ["type": "bellwire:pake", "payload": .object(payload)]
                if isDevice { letter.from = Fixture.evil }
                return [letter]
            }
            table.show()
            table.type()
            table.run()
            #expect(table.pairedDesktop == nil && table.pairedDevice == nil)
        }
    }

    private enum PayloadSide { case device, desktop, both }

    @Test("a relay that changes a share, or answers itself, learns nothing and pairs nothing")
    func changesShares() throws {
        var table = TypedCodeTable()
        table.table.carry = { letter in
            var letter = letter
            guard var payload = letter.payload["payload"]?.object, payload["share"] != nil else { return [letter] }
            payload["share"] = .string(String(repeating: "A", count: 43))
            letter.payload = ["type": "bellwire:pake", "payload": .object(payload)]
            return [letter]
        }
        table.show()
        table.type()
        table.run()
        #expect(table.pairedDesktop == nil && table.pairedDevice == nil)
        #expect(table.desktop.isActive, "a share that is none is no guess")
        #expect(table.desktop.dropped.malformed > 0)
    }

    @Test("stored letters count for nothing at the alias, sealed ones not without their run, plain ones not at all")
    func sentAhead() throws {
        var desktop = DesktopTypedCodeStateMachine()
        var random = SeededGenerator(seed: 5)
        _ = desktop.show(
            nameplate: Fixture.code("123456"), password: Fixture.code("789012"), identity: Fixture.desktopIdentity,
            legacy: .all)
        let ack = Fixture.ack(code: "123456")
        #expect(
            desktop.receivedAtAlias(PairingFrame(ack, from: Fixture.device), now: Fixture.now, using: &random) == [])
        _ = desktop.aliasOnline(now: Fixture.now)
        for time in [nil, 0, Fixture.now + 1] as [EpochMilliseconds?] {
            let frame = PairingFrame(ack, from: Fixture.device, delivery: .stored(at: time))
            #expect(desktop.receivedAtAlias(frame, now: Fixture.now, using: &random) == [])
        }
        #expect(desktop.dropped.stored == 3)
        #expect(desktop.received(Fixture.sealed(ack, from: Fixture.device), now: Fixture.now) == [])
        #expect(desktop.dropped.wrongProof == 1)
        #expect(desktop.received(PairingFrame(ack, from: Fixture.device), now: Fixture.now) == [])
        #expect(desktop.dropped.notSecure == 1)
    }

    @Test("six digits: the plain ack, a person who accepts it, and the ICE servers as the sign; only with legacy all")
    func plain() throws {
        var table = TypedCodeTable()
        table.show(legacy: .all)
        table.type("123456")
        table.deliver()
        guard case .acked(let asked, .some) = table.desktop.reported,
            case .taken(let actions) = table.desktop.answer(accept: true, now: table.table.now)
        else {
            Issue.record("not asked")
            return
        }
        #expect(!asked.isSecure)
        table.perform(actions)
        table.deliver()
        let desktop = try #require(table.pairedDesktop)
        #expect(!desktop.isSecure)
        #expect(desktop.address == Fixture.desktop)
        #expect(table.pairedDevice?.isSecure == false)

        for legacy in [LegacyPairing.qr, .none] {
            var refusing = TypedCodeTable()
            refusing.show(legacy: legacy)
            refusing.type("123456")
            refusing.deliver()
            #expect(refusing.desktop.dropped.notSecure == 1)
            refusing.run()
            #expect(reason(refusing.device.reported) == .timeout)
            var device = DeviceTypedCodeStateMachine()
            var random = SeededGenerator(seed: 1)
            _ = device.submit(
                "123456", identity: Fixture.deviceIdentity, over: Fixture.relay, legacy: legacy, using: &random)
            #expect(reason(device.reported) == .notSecure)
        }
    }

    @Test("six digits do not use up a code: a plain ack that is declined leaves it open for who knows all twelve")
    func plainDeclined() throws {
        var table = TypedCodeTable()
        table.show(legacy: .all)
        for seed in 20..<25 as Range<UInt8> {
            var ack = Fixture.ack(device: Fixture.did(seed), code: "123456")
            ack["bw"] = nil
            table.table.send(.object(ack), from: Fixture.did(seed), to: table.alias, sealed: false)
            table.deliver()
            guard case .taken(let actions) = table.desktop.answer(accept: false, now: table.table.now) else {
                #expect(seed >= 23, "asked about three at most")
                continue
            }
            #expect(seed < 23)
            #expect(actions.contains(.startTimer(after: 300_000)))
            table.perform(actions)
            #expect(table.desktop.reported.data["state"] == "displaying")
            // The same sender is not asked about again.
            table.table.send(.object(ack), from: Fixture.did(seed), to: table.alias, sealed: false)
            table.deliver()
            #expect(table.desktop.reported.data["state"] == "displaying")
        }
        #expect(table.desktop.dropped.refused == 5)
        table.type()
        table.run()
        #expect(table.pairedDevice?.isSecure == true)
    }

    @Test("a user who is asked, and declines: the device hears so")
    func declined() {
        var table = TypedCodeTable()
        table.show(confirm: true)
        table.type()
        table.deliver()
        guard case .taken(let actions) = table.desktop.answer(accept: false, now: table.table.now) else {
            Issue.record("not asked")
            return
        }
        table.perform(actions)
        table.run()
        #expect(reason(table.device.reported) == .rejected)
        #expect(reason(table.desktop.reported) == .rejected)
    }

    @Test("a desktop that can't store the device says so: the user of the device doesn't hear that it was declined")
    func notStored() {
        var table = TypedCodeTable()
        table.fails = true
        table.show()
        table.type()
        table.run()
        #expect(reason(table.device.reported) == .peerStoreFailed)
        #expect(reason(table.desktop.reported) == .storeFailed)
        #expect(table.pairedDesktop == nil && table.desktop.heldAlias == nil)
    }

    @Test("the device's reasons: no code, no identity, no relay, one that does not answer, no such alias, no answer")
    func deviceReasons() {
        var random = SeededGenerator(seed: 1)
        func reported(_ text: String, _ identity: PairingIdentity?, _ route: PairingRoute?) -> PairingReason? {
            var device = DeviceTypedCodeStateMachine()
            _ = device.submit(text, identity: identity, over: route, using: &random)
            return reason(device.reported)
        }
        #expect(reported("12345", nil, nil) == .badCode)
        #expect(reported("123456-789012", nil, nil) == .noIdentity)
        #expect(reported("123456", Fixture.deviceIdentity, nil) == .notSecure)
        #expect(reported("123456-789012", Fixture.deviceIdentity, nil) == .noRelay)
        func device() -> DeviceTypedCodeStateMachine {
            var device = DeviceTypedCodeStateMachine()
            _ = device.submit(
                "123456-789012", identity: Fixture.deviceIdentity, over: Fixture.relay, using: &random)
            return device
        }
        var unreachable = device()
        #expect(unreachable.routeFailed(Fixture.relay.id, detail: "x") == [])
        _ = unreachable.timedOut(now: Fixture.now)
        #expect(unreachable.reported == .failed(PairingFailure(.relayUnreachable, detail: "x")))
        var absent = device()
        #expect(absent.peerOffline("pairing-code:123456", over: Fixture.relay.id) == [])
        _ = absent.routeOnline(Fixture.relay.id, now: Fixture.now)
        _ = absent.peerOffline("pairing-code:123456", over: Fixture.relay.id)
        #expect(reason(absent.reported) == .typedCodeUnavailable)
        var silent = device()
        _ = silent.routeOnline(Fixture.relay.id, now: Fixture.now)
        var waited: UInt64 = 0
        while silent.isActive {
            waited += DeviceTypedCodeStateMachine.repeatTime
            _ = silent.timedOut(now: Fixture.now)
        }
        #expect(waited == 60_000)
        #expect(reason(silent.reported) == .timeout)
        var cancelled = device()
        #expect(cancelled.cancel().contains(.close(Fixture.relay.id)))
        #expect(reason(cancelled.reported) == .cancelled)
    }

    @Test("sleep gives the device's connection back, and the same step goes out again after it")
    func sleeps() throws {
        var device = DeviceTypedCodeStateMachine()
        var random = SeededGenerator(seed: 1)
        _ = device.submit("123456-789012", identity: Fixture.deviceIdentity, over: Fixture.relay, using: &random)
        let first = device.routeOnline(Fixture.relay.id, now: Fixture.now).last
        #expect(device.suspended(now: Fixture.now) == [.stopTimer, .close(Fixture.relay.id)])
        #expect(
            device.resumed(now: Fixture.now + 1_000) == [.startTimer(after: 15_000), .open(Fixture.relay)])
        #expect(device.routeOnline(Fixture.relay.id, now: Fixture.now).last == first)
        _ = device.suspended(now: Fixture.now)
        _ = device.resumed(now: Fixture.now + 300_000)
        #expect(reason(device.reported) == .expired)
    }

    @Test("an alias that belongs to another: a new code, five times; then typed codes are not to be had")
    func aliasTaken() {
        var desktop = DesktopTypedCodeStateMachine()
        var random = SeededGenerator(seed: 6)
        _ = desktop.show(
            nameplate: Fixture.code("123456"), password: Fixture.code("789012"), identity: Fixture.desktopIdentity)
        for _ in 0..<5 {
            let code = PairingCode(using: &random)
            let actions = desktop.aliasTaken(newNameplate: code, newPassword: PairingCode(using: &random))
            #expect(actions.first == .closeAlias)
            #expect(actions.last == .openAlias(PeerID("pairing-code:\(code.digits)")))
        }
        _ = desktop.aliasTaken(newNameplate: Fixture.code("111111"), newPassword: Fixture.code("222222"))
        #expect(reason(desktop.reported) == .typedCodeUnavailable)
    }

    @Test("the code is shown once the alias is ours; five minutes by the clock handed in; cancel in every state")
    func desktopLife() {
        var desktop = DesktopTypedCodeStateMachine()
        func show() {
            _ = desktop.show(
                nameplate: Fixture.code("123456"), password: Fixture.code("789012"),
                identity: Fixture.desktopIdentity)
        }
        show()
        #expect(desktop.reported == .connecting)
        #expect(desktop.aliasFailed(detail: "refused") == [])
        _ = desktop.timedOut(now: Fixture.now)
        #expect(desktop.reported == .failed(PairingFailure(.relayUnreachable, detail: "refused")))
        show()
        #expect(desktop.cancel() == [.stopTimer, .closeAlias, .report(.desktopCode(.cancelled))])
        show()
        _ = desktop.aliasOnline(now: Fixture.now)
        #expect(desktop.reported.data["expiresAt"] == .integer(Fixture.now + 300_000))
        #expect(desktop.timedOut(now: Fixture.now) == [.stopTimer, .closeAlias, .report(.desktopCode(.expired))])
        #expect(desktop.cancel() == [])
        show()
        _ = desktop.aliasOnline(now: Fixture.now)
        #expect(desktop.cancel(.noRelay).last == .report(.desktopCode(.failed(PairingFailure(.noRelay)))))
        var nobody = DesktopTypedCodeStateMachine()
        _ = nobody.show(nameplate: Fixture.code("123456"), password: Fixture.code("789012"), identity: nil)
        #expect(reason(nobody.reported) == .noIdentity)
    }
}

/// One in five is lost, the same ones in each run.
final class Losses {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed &+ 1_000) }

    func loses() -> Bool { Int.random(in: 0..<5, using: &random) == 0 }
}
