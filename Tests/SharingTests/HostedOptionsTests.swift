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

    @Test("A guest may say what the holder has, or leave it out")
    func same() throws {
        let holder = HostedOptions(["name": "n", "tls": ["ca_file": "/c"]])
        try holder.admit([:], name: "host")
        try holder.admit(["name": "n", "tls": ["ca_file": "/c"], "platform": "linux", "alerts": "none"], name: "host")
        try HostedOptions([:]).admit(["name": "host"], name: "host")
    }

    @Test(
        "Another value is refused by the option's name",
        arguments: ["name", "relay_url", "alerts", "images"])
    func different(_ name: String) throws {
        let holder = HostedOptions(["name": "n"])
        var guest: JSONObject = [:]
        guest[name] = "other"
        let error = #expect(throws: HostError.self) { try holder.admit(guest, name: "host") }
        #expect(error?.detail["field"] == .string(name))
        #expect(error?.detail["reason"] == "shared_option")
    }

    @Test("Who takes over opens the role as it was, and keeps its own handle's options")
    func taken() {
        let options = HostedOptions.taken(
            over: ["alerts": "system", "name": "n"], by: ["state_dir": "/d", "shared": true, "threaded": true])
        #expect(
            options == [
                "state_dir": "/d", "shared": true, "threaded": true, "alerts": "system", "name": "n",
            ])
    }
}
