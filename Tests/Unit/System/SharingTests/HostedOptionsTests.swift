import Hosting
import JSON
import Testing

@testable import Sharing

@Suite struct HostedOptionsTests {
    @Test("What belongs to the handle is no matter of the holder's")
    func ofHandle() {
        let options = HostedOptions([
            "state_dir": "/d", "shared": true, "threaded": true, "application_id": "org.example.App", "name": "n",
            "relay_url": .null,
        ])
        #expect(options.given == ["name": "n"])
    }

    private func admission(
        _ guest: JSONObject, to holder: JSONObject, guestYields: Bool = false, yields: Bool = false
    ) -> HostedOptions.Admission {
        HostedOptions(holder).admission(
            of: HostedOptions(guest), guestYields: guestYields, yields: yields, name: "host")
    }

    @Test("A guest may say what the holder has, or leave it out")
    func same() {
        let holder: JSONObject = ["name": "n", "tls": ["ca_file": "/c"]]
        #expect(admission([:], to: holder) == .welcome)
        let same: JSONObject = ["name": "n", "tls": ["ca_file": "/c"], "platform": "linux", "alerts": "none"]
        #expect(admission(same, to: holder) == .welcome)
        #expect(admission(["name": "host"], to: [:]) == .welcome)
        #expect(admission([:], to: ["alerts": "system", "late_alerts": "each"]) == .welcome)
    }

    @Test(
        "Another value is refused by the option's name",
        arguments: ["name", "relay_url", "late_alerts", "images"])
    func different(_ name: String) throws {
        var guest: JSONObject = [:]
        guest[name] = "other"
        guard case .refused(let error) = admission(guest, to: ["name": "n"]) else {
            Issue.record("not refused")
            return
        }
        #expect(error.detail["field"] == .string(name))
        #expect(error.detail["reason"] == "shared_option")
    }

    @Test("A desktop's options have their defaults")
    func desktop() throws {
        let relay: JSONObject = ["relay": ["listen": "127.0.0.1:9001"]]
        #expect(admission(["confirm": false, "max_commands_per_second": 200], to: relay) == .welcome)
        for different: JSONObject in [
            ["confirm": true], ["max_commands_per_second": 7], ["relay": ["listen": "127.0.0.1:9002"]],
            ["signaling_url": "ws://desk.test"],
        ] {
            guard case .refused(let error) = admission(different, to: relay) else {
                Issue.record("not refused: \(different)")
                continue
            }
            #expect(error.detail["field"] == different.keys.first.map(JSONValue.string))
        }
    }

    @Test("Who shows alerts takes over from a holder that shows none, and from no other")
    func alerts() {
        let guest: JSONObject = ["alerts": "host", "late_alerts": "each", "images": ["enabled": false]]
        #expect(admission(guest, to: ["name": "n"]) == .handOver)
        #expect(admission(guest, to: ["alerts": "none"], guestYields: true) == .handOver)
        guard case .refused = admission(["alerts": "system"], to: ["alerts": "host"]) else {
            Issue.record("two programs would show alerts")
            return
        }
        // Its other options count as a guest's do.
        guard case .refused = admission(["alerts": "host", "name": "other"], to: ["name": "n"]) else {
            Issue.record("not refused")
            return
        }
    }

    @Test("A holder that yields gives way to other options; a guest that yields takes the holder's")
    func yielding() {
        #expect(admission(["name": "lamp"], to: [:], yields: true) == .handOver)
        #expect(admission(["alerts": "host"], to: ["alerts": "system"], yields: true) == .handOver)
        #expect(admission([:], to: ["name": "lamp"], yields: true) == .welcome)
        #expect(admission(["name": "agent"], to: ["name": "lamp"], guestYields: true) == .welcome)
        // Of two that yield, neither gives way to the other.
        #expect(admission(["name": "one"], to: ["name": "two"], guestYields: true, yields: true) == .welcome)
    }

    @Test("Who takes over opens the role as it was, and keeps its own handle's options")
    func taken() {
        let own: JSONObject = ["state_dir": "/d", "threaded": true]
        var expected = own
        expected.merge(["alerts": "system", "late_alerts": "each", "name": "n"])
        #expect(
            HostedOptions.taken(over: ["alerts": "system", "late_alerts": "each", "name": "n"], by: own) == expected)
        // Alerts that need a callback end with the program that has it.
        #expect(HostedOptions.taken(over: ["alerts": "host", "late_alerts": "each"], by: own) == own)
        // Its own way to show alerts counts, as a whole.
        #expect(
            HostedOptions.taken(over: ["alerts": "system", "late_alerts": "each", "name": "n"], by: ["alerts": "host"])
                == ["name": "n", "alerts": "host"])
    }
}
