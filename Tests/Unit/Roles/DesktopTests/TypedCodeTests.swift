import Hosting
import Identity
import JSON
import Pairing
import Peering
import Signalling
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop

/// The typed code: a device that knows it, those that guess, and the flows beside each other.
@Suite(.timeLimit(.minutes(1)))
struct TypedCodeTests {
    /// A device's run of CPace with a code that it was told.
    struct Run {
        let device: SealedPeer
        let nameplate: String
        let initiator: CPaceInitiator

        var alias: String { "pairing-code:\(nameplate)" }

        init(_ device: SealedPeer, nameplate: String, password: String) throws {
            var generator = SecureRandomNumberGenerator()
            self.device = device
            self.nameplate = nameplate
            initiator = try CPaceInitiator(
                password: password, alias: "pairing-code:\(nameplate)", deviceID: device.id, using: &generator)
        }

        /// The first three steps; gives the key, and the desktop.
        func confirm() async throws -> (CPaceKey, desktop: String) {
            let first = PairingExchange(
                sid: initiator.sid, step: .deviceShare(did: PeerID(device.id), share: initiator.share))
            await device.sendPlain(first.json, to: alias)
            let answer = try #require(try await device.plain(PairingExchange.type)["payload"]?.object)
            guard case .desktopShare(let did, let share) = try PairingExchange(payload: answer).step else {
                throw Unexpected()
            }
            let key = try initiator.finish(desktopID: did.text, share: share)
            let third = PairingExchange(sid: initiator.sid, step: .deviceConfirm(key.confirmation(of: .device)))
            await device.sendPlain(third.json, to: alias)
            return (key, did.text)
        }
    }

    struct Unexpected: Error {}

    private func shown(_ bench: Bench) async throws -> (nameplate: String, password: String) {
        let shown = try await bench.desktop.value(.code(10_000))
        let code = try #require(shown["code"]?.string)
        let parts = code.split(separator: "-").map(String.init)
        #expect(parts.map(\.count) == [6, 6] && (shown["expiresAt"]?.integer ?? 0) > EpochMilliseconds.now)
        return (parts[0], parts[1])
    }

    private func pair(_ device: SealedPeer, _ code: (nameplate: String, password: String)) async throws -> String {
        let run = try Run(device, nameplate: code.nameplate, password: code.password)
        let (key, desktop) = try await run.confirm()
        let fourth = try #require(try await device.plain(PairingExchange.type)["payload"]?.object)
        guard case .desktopConfirm(let confirm) = try PairingExchange(payload: fourth).step else { throw Unexpected() }
        #expect(key.verifies(confirm, of: .desktop))
        try await device.seal(device.ack(code.nameplate, of: desktop, secret: key.pairingSecret), to: desktop)
        let confirmation = try await device.body("pairing:confirmation")
        #expect(await device.proves(confirmation, code: code.nameplate, desktop: desktop))
        return desktop
    }

    @Test("a device that knows the twelve digits pairs sealed; the alias is given back")
    func sealed() async throws {
        let bench = try await Bench()
        let code = try await shown(bench)
        let device = try await SealedPeer.register(at: bench.url)
        let desktop = try await pair(device, code)
        let record = try #require(try await bench.devices.first)
        let secret = try #require(await device.secret)
        let sas = ShortAuthenticationString(secret: secret, deviceID: device.id, desktopID: desktop)
        #expect(record["secure"] == true && record["sas"]?["digits"] == .string(sas.digits))
        _ = try await RawPeer.register("pairing-code:\(code.nameplate)", at: bench.url)
        await bench.end()
    }

    @Test("three wrong guesses burn the code, and the user is told")
    func burnt() async throws {
        let bench = try await Bench()
        let code = try await shown(bench)
        // The same code, whose guesser need not wait.
        let (nameplate, password) = (
            try #require(PairingCode(code.nameplate)), try #require(PairingCode(code.password))
        )
        await bench.desktop.core.pairing.show(nameplate: nameplate, password: password, pauses: [])
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "displaying" }
        let guesser = try await SealedPeer.register(at: bench.url)
        let wrong = code.password == "000000" ? "000001" : "000000"
        for _ in 1...3 {
            _ = try await Run(guesser, nameplate: code.nameplate, password: wrong).confirm()
            _ = try await guesser.plain("pairing:reject")
        }
        let failed = try await bench.host.event(.pairingChanged) { $0["state"] == "failed" }
        #expect(failed["flow"] == "code" && failed["reason"] == "typed_code_unavailable")
        #expect(failed["message"]?.string?.contains("wrong codes") == true)
        #expect(try await bench.devices.isEmpty)
        // A new one is not burnt.
        let device = try await SealedPeer.register(at: bench.url)
        _ = try await pair(device, try await shown(bench))
        await bench.end()
    }

    @Test("six digits alone ask the user, where the host allows them, and are nothing elsewhere")
    func plain() async throws {
        for legacy in ["all", "qr"] {
            let bench = try await Bench(["legacy": .string(legacy)])
            let code = try await shown(bench)
            let phone = try await RawPeer.register(iOS, at: bench.url)
            await phone.send(
                text: """
                    {"type":"message","to":"pairing-code:\(code.nameplate)","payload":{"type":"pair-ack","pairingCode":\
                    "\(code.nameplate)","mobileDid":"\(iOS)","deviceInfo":{"deviceId":"ios-1","name":"My phone",\
                    "platform":"ios"},"timestamp":1735689600000}}
                    """)
            if legacy == "all" {
                let asked = try await bench.host.event(.pairingChanged) { $0["state"] == "acked" }
                #expect(asked["flow"] == "code" && asked["confirm"] == true)
                _ = try await bench.desktop.value(.confirm(nil, accept: true))
                _ = try await phone.payload("chainlesschain:ice:config")
                // An iPhone waits for this, inside a message, with the digits that it was given.
                let confirmation = try await phone.payload("pairing:confirmation")
                let own = try #require(try await bench.state["id"])
                #expect(confirmation["pairingCode"] == .string(code.nameplate) && confirmation["pcPeerId"] == own)
                #expect(
                    confirmation["deviceInfo"]?["name"] == "Desk" && confirmation["timestamp"]?.integer != nil
                        && confirmation["bw"] == nil)
                #expect(try await bench.devices.map { $0["secure"] } == [false])
            } else {
                _ = try await pair(try await SealedPeer.register(at: bench.url), code)
                #expect(try await bench.devices.map { $0["secure"] } == [true])
                #expect(try await bench.counter("droppedAcks") == 1)
            }
            await bench.end()
        }
    }

    @Test("where the alias belongs to another, another code is shown")
    func takenAlias() async throws {
        let bench = try await Bench()
        _ = try await shown(bench)
        let owner = try await RawPeer.register("pairing-code:123123", at: bench.url)
        let core = bench.desktop.core
        let taken = try #require(PairingCode("123123"))
        await core.show(taken)
        let next = try await bench.host.event(.pairingChanged) {
            $0["state"] == "displaying" && $0["code"]?.string?.hasPrefix("123123") == false
        }
        #expect(next["code"]?.string?.count == 13)
        await owner.close()
        await bench.end()
    }

    @Test("a code that no relay registers ends at its deadline, by cancel, by stop, and by the end")
    func waiting() async throws {
        let relay = try await LoopbackRelay()
        let url = await relay.url
        await relay.stop()
        let desktop = try Bench.open(relay: url, RecordingHost())
        func code(_ timeout: CallTimeout) async -> HostError? {
            await desktop.outcome(.code(timeout)).error
        }
        func waits() async throws {
            try await until("a code is awaited") { await desktop.core.pairing.isAwaited(.code) }
        }
        #expect(await code(100)?.code == .offline)
        async let cancelled = code(10_000)
        try await waits()
        desktop.perform(.cancel(nil))
        let error = await cancelled
        #expect(error?.code == .pairing && error?.detail["reason"] == "cancelled")
        async let stopped = code(10_000)
        try await waits()
        desktop.perform(.stop)
        #expect(await stopped?.code == .offline)
        async let closed = code(10_000)
        try await waits()
        await desktop.close()
        #expect(await closed?.code == .closed)
    }

    @Test("the three flows stand beside each other: each is answered, ended and paired by itself")
    func independent() async throws {
        let bench = try await Bench(["legacy": "all"])
        let offer = try await bench.offer()
        let code = try await shown(bench)
        let scanned = try await SealedPeer.register(at: bench.url)
        _ = try await value { then in
            EventLoop.post { bench.desktop.perform(.scan(scanned.offer("654321", secret: .random())), then: then) }
        }
        // A phone takes the offer while the scan asks: two ask.
        let phone = try await bench.ack(offer, iOS, platform: "ios")
        _ = try await bench.host.event(.pairingChanged) { $0["flow"] == "offer" && $0["state"] == "acked" }
        #expect(await bench.desktop.outcome(.confirm(nil, accept: true)).error?.code == .invalid)
        #expect(await bench.desktop.outcome(.confirm(.code, accept: true)).error?.code == .notFound)
        bench.desktop.perform(.cancel(.scan))
        _ = try await bench.host.event(.pairingChanged) { $0["flow"] == "scan" && $0["state"] == "cancelled" }
        _ = try await bench.desktop.value(.confirm(nil, accept: true))
        _ = try await phone.peer.payload("chainlesschain:ice:config")
        // The code is still good.
        let typing = try await SealedPeer.register(at: bench.url)
        _ = try await pair(typing, code)
        #expect(try await bench.devices.map { $0["id"] } == [.string(iOS), .string(typing.id)])
        bench.desktop.perform(.cancel(nil))
        #expect(await bench.desktop.outcome(.confirm(nil, accept: true)).error?.code == .notFound)
        await bench.end()
    }
}

extension DesktopSwitchboard {
    /// Shows a code of the test's.
    fileprivate func show(_ nameplate: PairingCode) {
        pairing.show(nameplate: nameplate, password: nameplate)
    }
}
