import Hosting
import JSON
import Relay

@testable import Desktop
@testable import Device
@testable import DeviceAlerts

extension FuzzTarget {
    /// The options of a device and a desktop, from objects that have the right keys more often than not: what is wrong is an
    /// error that names a key, and what is taken is within its limits.
    static let handleOptions = FuzzTarget("handle-options", limit: 1_024) { bytes in
        var input = FuzzInput(bytes)
        let isDevice = input.flag()
        let text: String
        if input.choice(8) == 0 {
            text = String(decoding: input.rest(), as: UTF8.self)
        } else {
            text = JSONValue.object(options(&input)).serialized()
        }
        let common: CommonOptions
        let isWithin: Bool
        do throws(HostError) {
            if isDevice {
                let device = try DeviceOptions(parsing: text)
                common = device.common
                let images = device.alerts.images
                isWithin = (100...30_000).contains(images.timeout) && images.allowed.count <= 64
            } else {
                let desktop = try DesktopOptions(parsing: text)
                common = desktop.common
                isWithin = (1...100_000).contains(desktop.commandsPerSecond)
            }
        } catch {
            try require(error.code == .invalid, "\(error.code): \(error.message)")
            try require(!error.message.isEmpty, "an error without a message")
            try require(error.detail["field"]?.string != nil, "an error that names no key: \(error.message)")
            return
        }
        try require(isWithin, "images or commands out of range")
        try require((1...256).contains(common.name.utf8.count), "a name of \(common.name.utf8.count) bytes")
        try require(common.platform.utf8.count <= 256, "a platform of \(common.platform.utf8.count) bytes")
        try require(common.stateDirectory?.isEmpty != true, "an empty state_dir")
        let object = (try? JSONValue(parsing: text))?.object
        try require(object?.keys.allSatisfy(keys.contains) == true, "an unknown key is overlooked")
    }

    private static let keys: Set = [
        "state_dir", "name", "platform", "relay_url", "keys", "tls", "legacy", "follow_system", "late_alerts", "alerts",
        "application_id", "icon", "images", "threaded", "relay", "signaling_url", "confirm", "max_commands_per_second",
    ]
    private static let names =
        keys.sorted() + [
            "ca_file", "enabled", "timeout_ms", "allow", "listen", "health", "origins", "certificate_file", "key_file",
        ]

    /// For each key a value that it may have, or any other.
    private static func options(_ input: inout FuzzInput) -> JSONObject {
        var object: JSONObject = ["state_dir": ":memory:"]
        for _ in 0..<input.choice(8) {
            let name = input.element(names)
            object[name] = input.choice(4) > 0 ? value(name, &input) : input.json(names)
        }
        return object
    }

    private static func value(_ name: String, _ input: inout FuzzInput) -> JSONValue {
        switch name {
        case "keys": .string(input.element(["file", "secret-service"]))
        case "legacy": .string(input.element(["qr", "all", "none"]))
        case "late_alerts": .string(input.element(["none", "summary", "each"]))
        case "alerts": .string(input.element(["none", "system", "host"]))
        case "platform": .string(input.element(["linux", "darwin", "win32", "Linux 6", input.text()]))
        case "relay_url", "signaling_url":
            .string(input.element(["ws://a:1", "wss://b/c?d", "ws://[::1]", input.text()]))
        case "application_id": .string(input.element(["org.example.App", "a", ".", input.text()]))
        case "threaded", "confirm", "follow_system": .bool(input.flag())
        case "max_commands_per_second": .integer(input.integer())
        case "tls": .object(["ca_file": .string(input.text()), "x": input.choice(8) == 0 ? 1 : nil])
        case "images":
            .object([
                "enabled": .bool(input.flag()), "timeout_ms": .integer(input.integer()),
                "allow": .array([.string(input.element(["10.0.0.0/8", "::1", "10.0.0.0/33", input.text()]))]),
            ])
        case "relay": .object(["listen": .string(input.element(["127.0.0.1:0", ":", "[::]:65536", input.text()]))])
        default: .string(input.text())
        }
    }
}
