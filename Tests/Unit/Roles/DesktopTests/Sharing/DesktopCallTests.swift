import Foundation
import Hosting
import JSON
import TestSupport
import Testing

@testable import Desktop
@testable import Peering
@testable import Sharing

/// Calls of programs that share the desktop: whatever they send is checked like a host's parameters.
@Suite(.timeLimit(.minutes(5)))
struct DesktopCallTests {
    /// A valid use of each call.
    private static let calls: [String: [JSONValue]] = [
        "start": [], "stop": [], "state": [], "offer": [50], "scan": ["no code"], "code": [50],
        "pairing.cancel": ["offer"], "confirm": ["scan", true], "devices": [], "tokens": [],
        "push.seal": ["did:key:zNobody", "n1", [:]], "rename": ["did:key:zNobody", "Phone"],
        "unpair": ["did:key:zNobody"], "clear": [], "revoke": ["did:key:zNobody"], "readmit": ["did:key:zNobody"],
        "revoked": [], "rekey": [], "rekey.cancel": [], "rekey.status": [],
        "rekey.confirm": ["did:key:zOld", "did:key:zNew", true], "permissions": [],
        "allow": ["safe", "notification", "did:key:zNobody"], "skill.enable": ["notification", true],
        "notify": [["title": "Tea", "body": ""], 50], "history": [["limit": 10]],
        "invoke": ["notification.markAllAsRead", [:], 50],
    ]

    private struct Bench {
        let directory: String
        let role: SharedRole<Desktop>

        init() throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "guests-\(UUID())").path
            let options: JSONObject = [
                "state_dir": .string(directory), "name": "Desk", "follow_system": false,
                "relay": ["listen": "127.0.0.1:0"],
            ]
            role = try SharedDesktop.open(JSONValue.object(options).serialized(), RecordingHost().channel).0
        }

        func guest(_ name: String = "Liar") async throws -> RawGuest {
            let hello = GuestHello(role: "desktop", taker: FeedTaker(name, copy: nil), process: 1, options: [:])
            return try await RawGuest(in: directory, as: hello)
        }

        func end() async {
            await role.close()
            try? FileManager.default.removeItem(atPath: directory)
        }
    }

    @Test("the samples name every call")
    func complete() {
        let names = DesktopCall.Name.allCases.map(\.rawValue) + KeyCall.Name.allCases.map(\.rawValue)
        #expect(Set(Self.calls.keys) == Set(names))
    }

    @Test("a call is encoded as it is decoded", arguments: calls)
    func coding(_ name: String, _ arguments: [JSONValue]) throws {
        let call = HostCall(name, arguments)
        #expect(try DesktopCall(call).encoded == call)
    }

    @Test("any value in any place of any call gets an answer", arguments: calls.keys.sorted())
    func values(_ name: String) async throws {
        let bench = try Bench()
        let guest = try await bench.guest()
        var codes: Set<String> = []
        for arguments in HostileValues.variants(of: try #require(Self.calls[name])) {
            let number = await guest.call(name, arguments)
            if let code = try await guest.code(of: number) { codes.insert(code) }
        }
        #expect(codes.isDisjoint(with: ["store", "closed", "moved"]), "\(name): \(codes)")
        await guest.close()
        let honest = try await bench.guest("Honest")
        #expect(try await honest.code(of: await honest.call("state", [])) == nil)
        await honest.close()
        await bench.end()
    }

    @Test("an unknown call is unsupported")
    func unknown() {
        let error = #expect(throws: HostError.self) { try DesktopCall(HostCall("desktop.explode", [])) }
        #expect(error?.code == .unsupported)
    }

    @Test(
        "what is wrong is named",
        arguments: [
            (HostCall("allow", ["everything", "notification", "d"]), "allowance"),
            (HostCall("confirm", ["nonsense", true]), "flow"), (HostCall("pairing.cancel", ["nonsense"]), "flow"),
            (HostCall("offer", [0]), "timeout_ms"), (HostCall("code", [.integer(.min)]), "timeout_ms"),
            (HostCall("notify", [["title": 7], 1_000]), "title"),
            (HostCall("notify", [["title": "Tea"], 600_001]), "timeout_ms"),
            (HostCall("invoke", ["no.such", [:], 1_000]), "method"),
            (HostCall("invoke", ["desktop.setGroup", ["name": ""], 1_000]), "name"),
            (HostCall("push.seal", ["d", "", [:]]), "id"),
        ])
    func named(_ call: HostCall, _ field: String) {
        let error = #expect(throws: HostError.self) { try DesktopCall(call) }
        #expect(error?.detail["field"] == .string(field))
    }

    @Test("a push and a command have an id, by which they are repeated; without one they are not")
    func identified() throws {
        let calls = [
            HostCall("notify", [["title": "Tea"], 1_000]),
            HostCall("invoke", ["notification.markAllAsRead", [:], 1_000]),
        ]
        for call in try calls.map({ try DesktopCall($0) }) {
            #expect(IdentifiedCall(call, isIdentified: false).repeated == nil)
            let identified = IdentifiedCall(call)
            let id = try #require(identified.identity.id)
            #expect(id.utf8.count == 32 && identified.identity.attempt == .first)
            #expect(identified.repeated?.identity == (try CommandIdentity(checking: id, .repeated)))
            #expect(identified.delayed.identity == (try CommandIdentity(checking: id, .delayed)))
            #expect(identified.repeated?.delayed.identity.attempt == .repeated)
            #expect(call.traits.timeout == 1_000)
        }
        for id in ["", String(repeating: "a", count: 65)] {
            #expect(throws: HostError.self) { try CommandIdentity(checking: id) }
        }
    }

    @Test("what reads is repeated; what may have been executed is not", arguments: calls)
    func repeated(_ name: String, _ arguments: [JSONValue]) throws {
        let reads = [
            "start", "stop", "state", "devices", "tokens", "revoked", "rekey.status", "permissions", "history",
        ]
        let call = IdentifiedCall(try DesktopCall(HostCall(name, arguments)), isIdentified: false)
        #expect((call.repeated != nil) == reads.contains(name))
    }
}
