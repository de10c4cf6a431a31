import Foundation
import Hosting
import JSON
import Sharing
import TestSupport
import Testing

@testable import Device
@testable import DeviceAlerts
@testable import Peering

/// Programs that share the device may send anything: every value of every message and call gets a result or a named
/// error, and the holder goes on.
@Suite(.timeLimit(.minutes(5)))
struct LyingGuestTests {
    /// A valid use of each call. The times are short: some calls wait that long.
    private static let calls: [String: [JSONValue]] = [
        "start": [], "stop": [], "suspend": [], "resume": [], "state": [],
        "pairing.scan": ["no code", 50, "ws://127.0.0.1:1"], "pairing.show": [50, .null],
        "pairing.type": ["123456-789012", 50, .null],
        "pairing.cancel": ["scan"], "pairing.confirm": ["show", true], "pairing.list": [],
        "pairing.rename": ["did:key:zNobody", "Desk"], "pairing.unpair": ["did:key:zNobody"], "pairing.clear": [],
        "revoke": ["did:key:zNobody"], "readmit": ["did:key:zNobody"], "revoked": [], "rekey": [],
        "rekey.cancel": [], "rekey.status": [], "rekey.confirm": ["did:key:zOld", "did:key:zNew", true],
        "notification": ["did:key:zNobody", 50, "notification.markAllAsRead", [:]],
        "invoke": ["did:key:zNobody", 50, "test.echo", [:]],
        "inbox.load": [["limit": 10]], "inbox.state": [], "inbox.settings": [.null],
        "inbox.refresh": [.null, 50], "inbox.markRead": [.null, 50, "n1"], "inbox.markAllRead": [.null, 50],
        "inbox.delete": [.null, 50, "n1"], "inbox.clear": [.null, 50],
        "queue.list": [], "queue.remove": ["q1"], "queue.retry": [.null], "queue.clear": [0],
        "token": ["fcm", "00ff"], "token.clear": ["fcm"], "receive": ["fcm", ["data": [:]]],
        "complete": ["n1", "no_data"],
        "alerts.state": [], "alerts.request": [false, 50], "alerts.authorize": ["authorized", 0],
        "alerts.inFront": [true], "alerts.respond": [.null, "n1", "open", .null], "alerts.categories": [[]],
        "alerts.settings": [], "alerts.setSettings": [[:]], "alerts.delivered": [],
        "alerts.remove": [.null, "n1", .null], "alerts.badge": [1],
        "reminder.add": [["title": "Tea", "trigger": ["type": "interval", "seconds": 60]]], "reminder.list": [],
        "reminder.remove": ["r1", .null], "reminder.position": [1.5, 2.5, 10.0],
    ]

    private struct Bench {
        let directory: String
        let host = RecordingHost()
        let role: SharedRole<Device>

        init(_ more: JSONObject = [:]) throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "guests-\(UUID())").path
            var options: JSONObject = [
                "state_dir": .string(directory), "name": "Phone", "follow_system": false, "alerts": "host",
            ]
            options.merge(more)
            role = try SharedDevice.open(JSONValue.object(options).serialized(), host.channel).0
        }

        func hello(_ name: String = "Liar") -> GuestHello {
            GuestHello(role: "device", taker: FeedTaker(name, copy: nil), process: 1, options: [:])
        }

        func guest() async throws -> RawGuest { try await RawGuest(in: directory, as: hello()) }

        /// The holder still answers an honest guest.
        func checkAlive(_ location: SourceLocation = #_sourceLocation) async throws {
            let guest = try await RawGuest(in: directory, as: hello("Honest"))
            let number = await guest.call("state", [])
            #expect(try await guest.code(of: number, location) == nil, sourceLocation: location)
            await guest.close()
        }

        func end() async {
            await role.close()
            try? FileManager.default.removeItem(atPath: directory)
        }
    }

    @Test("the samples name every call")
    func complete() {
        let names =
            DeviceCall.Name.allCases.map(\.rawValue) + KeyCall.Name.allCases.map(\.rawValue)
            + AlertRequest.Name.allCases.map(\.rawValue)
        #expect(Set(Self.calls.keys) == Set(names))
    }

    @Test("a call is encoded as it is decoded", arguments: calls)
    func coding(_ name: String, _ arguments: [JSONValue]) throws {
        let call = HostCall(name, arguments)
        #expect(try DeviceCall(call).encoded == call)
    }

    @Test("calls that pair carry the relay of their program, and no other call does")
    func relays() throws {
        let options: JSONObject = ["relay_url": "wss://relay.example", "name": "Lamp"]
        for (name, arguments) in Self.calls.sorted(by: { $0.key < $1.key }) {
            let call = try DeviceCall(HostCall(name, arguments))
            let asked = call.asked(with: options).encoded
            let pairs = ["pairing.show", "pairing.type"].contains(name)
            #expect(asked.arguments == (pairs ? arguments.dropLast() + ["wss://relay.example"] : arguments))
            #expect(call.asked(with: ["name": "Lamp"]).encoded == call.encoded)
        }
        let error = #expect(throws: HostError.self) {
            try DeviceCall(HostCall("pairing.show", [50, "http://relay.example"]))
        }
        #expect(error?.code == .undecodable)
        // A guest of another version leaves it out.
        #expect(try DeviceCall(HostCall("pairing.show", [50])).encoded.arguments == [50, .null])
    }

    @Test("an unknown call is unsupported")
    func unknown() {
        let error = #expect(throws: HostError.self) { try DeviceCall(HostCall("device.explode", [])) }
        #expect(error?.code == .unsupported)
    }

    @Test("any value in any place of any call gets an answer", arguments: calls.keys.sorted())
    func values(_ name: String) async throws {
        let variants = HostileValues.variants(of: try #require(Self.calls[name]))
        let bench = try Bench()
        let guest = try await bench.guest()
        var codes: Set<String> = []
        for arguments in variants {
            let number = await guest.call(name, arguments)
            if let code = try await guest.code(of: number) { codes.insert(code) }
        }
        // Nothing is left undone because of a fault of the holder's.
        #expect(codes.isDisjoint(with: ["store", "closed", "moved"]), "\(name): \(codes)")
        await guest.close()
        try await bench.checkAlive()
        await bench.end()
    }

    @Test("a code for which the device has to look for a relay is not shown for a time that no host may pass")
    func searching() async throws {
        let bench = try Bench()
        let guest = try await bench.guest()
        // The store is busy: the search takes time.
        for round in 0..<20 {
            for call in ["inbox.state", "queue.list", "revoked"] { await guest.call(call, []) }
            for timeout: Int64 in [.min, .min + 1, -1, 0, 600_001, .max] {
                let shown = await guest.call("pairing.show", [.integer(timeout)])
                let typed = await guest.call("pairing.type", ["123456-789012", .integer(timeout)])
                #expect(try await guest.code(of: shown) == "invalid", "round \(round): \(timeout)")
                #expect(try await guest.code(of: typed) == "invalid", "round \(round): \(timeout)")
            }
        }
        await guest.close()
        try await bench.checkAlive()
        await bench.end()
    }

    @Test("any value in any member of any message ends the connection at most")
    func messages() async throws {
        let bench = try Bench()
        let messages: [JSONObject] = [
            ["message": "call", "number": 1, "name": "state", "arguments": []],
            ["message": "take", "number": 2, "source": "notification.received", "limit": 1, "copy": false],
            ["message": "finish", "number": 3, "source": "notification.received", "through": 0, "copy": false],
            ["message": "leave", "seen": ["notification.received": 0]],
            ["message": "ping"], ["message": "hello"], ["message": "nonsense"], [:],
        ]
        for message in messages {
            for key in message.keys + ["seen", "unknown"] {
                for value in HostileValues.all {
                    let guest = try await bench.guest()
                    var changed = message
                    changed[key] = value
                    if key == "seen" { changed[key] = ["notification.received": value, "no.such": value] }
                    await guest.send(changed)
                    await guest.close()
                }
            }
            try await bench.checkAlive()
        }
        await bench.end()
    }

    @Test("any value in any member of a hello is answered, or ends the connection")
    func hellos() async throws {
        let bench = try Bench()
        let valid = GuestMessage.hello(bench.hello()).object
        for key in valid.keys where key != "message" {
            for value in HostileValues.all {
                var hello = valid
                hello[key] = value
                if key == "handed" { hello[key] = ["notification.received": value, "no.such": value] }
                let guest = try await RawGuest(in: bench.directory)
                await guest.send(hello)
                await guest.send(["message": "call", "number": 1, "name": "state", "arguments": []])
                await guest.close()
            }
        }
        try await bench.checkAlive()
        await bench.end()
    }

    @Test("parameters are as deep as a host's may be; a deeper frame than that ends the connection")
    func depth() async throws {
        let bench = try Bench()
        let guest = try await bench.guest()
        for (levels, code) in [(63, "not_found"), (64, "invalid")] {
            let number = await guest.call("invoke", [.null, 50, "test.echo", ["a": HostileValues.nested(levels)]])
            #expect(try await guest.code(of: number) == code)
        }
        await guest.call("invoke", [.null, 50, "test.echo", ["a": HostileValues.nested(300)]])
        try await guest.untilClosed()
        try await bench.checkAlive()
        await bench.end()
    }

    @Test("marks that no honest guest can have move nothing that others have")
    func marks() async throws {
        let bench = try Bench()
        let guest = try await bench.guest()
        for through: Int64 in [.max, .min, -1, 1 << 53] {
            let fields: JSONObject = [
                "message": "finish", "number": .integer(through), "source": "notification.received",
                "through": .integer(through), "copy": false,
            ]
            await guest.send(fields)
            _ = try await guest.code(of: through)
            await guest.send([
                "message": "take", "number": .integer(through), "source": "notification.received",
                "limit": .integer(through), "copy": false,
            ])
            let taken = try await guest.frame(with: "number", .integer(through))
            #expect(taken["message"] == "taken" && taken["events"] == [])
        }
        await guest.send(["message": "leave", "seen": ["notification.received": .integer(.max)]])
        await guest.close()
        try await bench.checkAlive()
        await bench.end()
    }
}
