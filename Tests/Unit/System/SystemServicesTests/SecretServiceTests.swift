import Foundation
import TestSupport
import Testing
import Transport

@testable import SystemServices

@Suite("Secret Service, one that the test plays")
struct SecretServiceTests {
    static let name = "org.freedesktop.secrets"
    static let attributes = SecretAttributes(role: "device-key", stateDirectory: "/home/user/.local/state/bellwire")

    func secret(_ bytes: [UInt8]) -> SecretBytes {
        bytes.withUnsafeBytes { SecretBytes(copying: $0) }
    }

    func bytes(_ secret: SecretBytes?) -> [UInt8]? {
        secret?.withBytes { Array($0) }
    }

    @Test("A secret is kept, found by its attributes, replaced and deleted")
    func roundTrip() async throws {
        let daemon = try await PrivateBus()
        let keyring = try await Services(on: daemon, owning: Self.name)
        let service = SecretService(daemon.address)
        let other = SecretAttributes(role: "device-key", stateDirectory: "/elsewhere")
        let (first, second) = (secret(Array(0...255)), secret([7]))
        #expect(try await Waiting.value { try service.lookUp(Self.attributes) } == nil)
        try await Waiting.value { try service.store(first, label: "Bellwire key", attributes: Self.attributes) }
        #expect(try await bytes(Waiting.value { try service.lookUp(Self.attributes) }) == Array(0...255))
        #expect(try await Waiting.value { try service.lookUp(other) } == nil)
        try await Waiting.value { try service.store(second, label: "Bellwire key", attributes: Self.attributes) }
        #expect(try await bytes(Waiting.value { try service.lookUp(Self.attributes) }) == [7])
        #expect(try await Waiting.value { try service.delete(other) } == false)
        #expect(try await Waiting.value { try service.delete(Self.attributes) })
        #expect(try await Waiting.value { try service.delete(Self.attributes) } == false)
        #expect(try await Waiting.value { try service.lookUp(Self.attributes) } == nil)
        withExtendedLifetime(keyring) {}
    }

    @Test("A keyring that is locked is unlocked without a dialogue, or is an error that says what to do")
    func locked() async throws {
        let daemon = try await PrivateBus()
        let keyring = try await Services(on: daemon, owning: Self.name)
        let service = SecretService(daemon.address)
        let secret = secret([1, 2, 3])
        try await keyring.set(#""locked":true"#)
        try await Waiting.value { try service.store(secret, label: "key", attributes: Self.attributes) }
        try await keyring.set(#""locked":true"#)
        #expect(try await bytes(Waiting.value { try service.lookUp(Self.attributes) }) == [1, 2, 3])
        try await keyring.set(#""locked":true,"prompts":true"#)
        let errors = await [
            Waiting.error { try service.lookUp(Self.attributes) },
            // Of what a locked keyring does not show nobody can say that it is not there.
            Waiting.error { try service.lookUp(SecretAttributes(role: "none", stateDirectory: "/")) },
            Waiting.error { try service.store(secret, label: "key", attributes: Self.attributes) },
            Waiting.error { try service.delete(Self.attributes) },
        ]
        #expect(errors.allSatisfy { $0?.code == .locked })
        #expect(errors.first??.message.contains("unlock it") == true)
    }

    @Test("No service, no keyring, no bus and no libsystemd are unavailable")
    func unavailable() async throws {
        let daemon = try await PrivateBus()
        let absent = SecretService(daemon.address)
        #expect(await Waiting.error { try absent.lookUp(Self.attributes) }?.code == .unavailable)
        let keyring = try await Services(on: daemon, owning: Self.name)
        try await keyring.override("org.freedesktop.Secret.Service.ReadAlias", #""signature":"o","args":["/"]"#)
        let error = await Waiting.error { try absent.lookUp(Self.attributes) }
        #expect(error?.code == .unavailable && error?.message.contains("no default keyring") == true)
        for service in [
            SecretService(BusAddress("unix:path=/nonexistent/bus")), SecretService(BusAddress("tcp:host=x")),
            SecretService(daemon.address, library: SystemdLibrary(named: "libno-such-thing.so.0")),
        ] {
            #expect(await Waiting.error { try service.lookUp(Self.attributes) }?.code == .unavailable)
        }
    }

    @Test("A service that does not answer costs the limit and no more; one that dies under way costs nothing")
    func silence() async throws {
        let daemon = try await PrivateBus()
        let keyring = try await Services(on: daemon, owning: Self.name)
        for method in ["Service.OpenSession", "Service.SearchItems", "Service.ReadAlias"] {
            let service = SecretService(daemon.address, within: 300)
            try await keyring.override("org.freedesktop.Secret.\(method)", #""silent":true"#)
            let begin = BusConnection.microseconds
            #expect(await Waiting.error { try service.lookUp(Self.attributes) }?.code == .timeout)
            #expect(BusConnection.microseconds - begin < 4_000_000)
            try await keyring.override("org.freedesktop.Secret.\(method)", #""error":"x.y.z""#)
            #expect(await Waiting.error { try service.lookUp(Self.attributes) }?.code == .refused)
            try await keyring.plainly("org.freedesktop.Secret.\(method)")
        }
        let mute = SecretService(daemon.address)
        try await keyring.override("org.freedesktop.Secret.Service.OpenSession", #""silent":true"#)
        async let error = Waiting.error { try mute.lookUp(Self.attributes) }
        try await keyring.call(of: "org.freedesktop.Secret.Service.OpenSession", within: 4_000)
        keyring.crash()
        #expect([.timeout, .unavailable].contains(await error?.code))
    }

    @Test("Answers of other types, huge ones and secrets that are too long are refused")
    func hostile() async throws {
        let daemon = try await PrivateBus()
        let keyring = try await Services(on: daemon, owning: Self.name)
        let service = SecretService(daemon.address)
        let secret = secret([1])
        try await Waiting.value { try service.store(secret, label: "key", attributes: Self.attributes) }
        let long = String(repeating: "x", count: 257)
        for (method, answer) in [
            ("Item.GetSecret", #""signature":"s","args":["x"]"#),
            ("Item.GetSecret", #""signature":"","args":[]"#),
            ("Item.GetSecret", #""signature":"(oayays)","args":[["/a","","\#(long)","t"]]"#),
            ("Item.GetSecret", #""signature":"(oays)","args":[["/a","x","t"]]"#),
            ("Service.SearchItems", #""signature":"as","args":[["/x"]]"#),
            ("Service.SearchItems", #""signature":"s","args":["0123456789abcdef"],"repeat":100000"#),
            ("Service.OpenSession", #""signature":"i","args":[1]"#),
        ] {
            try await keyring.override("org.freedesktop.Secret.\(method)", answer)
            #expect(
                await Waiting.error { try service.lookUp(Self.attributes) }?.code == .malformed, "\(answer.prefix(60))")
            try await keyring.plainly("org.freedesktop.Secret.\(method)")
        }
        for (method, answer) in [
            ("Collection.CreateItem", #""signature":"oo","args":["/","/prompt"]"#),
            ("Collection.CreateItem", #""error":"org.freedesktop.Secret.Error.IsLocked""#),
        ] {
            try await keyring.override("org.freedesktop.Secret.\(method)", answer)
            let error = await Waiting.error { try service.store(secret, label: "key", attributes: Self.attributes) }
            #expect(error?.code == .locked)
        }
        let tooLong = self.secret([UInt8](repeating: 0, count: 257))
        let error = await Waiting.error { try service.store(tooLong, label: "key", attributes: Self.attributes) }
        #expect(error?.code == .invalid)
    }

    @Test("On the event loop it refuses to wait")
    @EventLoop
    func onTheLoop() throws {
        let service = SecretService(BusAddress("unix:path=/nonexistent/bus"))
        #expect(throws: SecretServiceError.self) { try service.lookUp(Self.attributes) }
    }

    @Test("Signals of the host's do not cut a wait short")
    func interrupted() async throws {
        let daemon = try await PrivateBus()
        let keyring = try await Services(on: daemon, owning: Self.name)
        try await keyring.override("org.freedesktop.Secret.Service.OpenSession", #""silent":true"#)
        let service = SecretService(daemon.address, within: 500)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        var before = sigaction()
        sigaction(SIGUSR2, &action, &before)
        defer { sigaction(SIGUSR2, &before, nil) }
        let begin = BusConnection.microseconds
        let thread = Mailbox<UInt>()
        async let error = Waiting.error {
            let own = UInt(pthread_self())
            EventLoop.post { thread.put(own) }
            return try service.lookUp(Self.attributes)
        }
        let waiting = try await thread.next()
        try await keyring.call(of: "org.freedesktop.Secret.Service.OpenSession")
        pthread_kill(pthread_t(waiting), SIGUSR2)
        #expect(await error?.code == .timeout)
        #expect(BusConnection.microseconds - begin >= 500_000)
    }
}
