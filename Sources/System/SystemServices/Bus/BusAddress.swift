import CLinux
import Glibc

/// Where a bus is: D-Bus's text, such as `unix:path=/run/dbus/system_bus_socket`.
///
/// Only sockets of this machine are taken: `tcp:` would look up a name, `unixexec:` would start a program.
package struct BusAddress: Sendable, Hashable {
    /// One or more addresses, separated by `;`; empty if there is none.
    let text: String
    /// What connecting fails with where there is no address.
    private let absence: String

    /// An address that somebody gave.
    package init(_ text: String) {
        let local = text.split(separator: ";").filter { $0.hasPrefix("unix:") }
        let isTaken = text.utf8.count <= 4_096 && !text.utf8.contains(0)
        self.text = isTaken ? local.joined(separator: ";") : ""
        absence = "the bus has no unix: address on this machine"
    }

    private init(absent reason: String) {
        text = ""
        absence = reason
    }

    /// Why there is no bus to connect to.
    var problem: BusError? { text.isEmpty ? BusError(.noAddress, absence) : nil }

    /// The bus of the machine: `DBUS_SYSTEM_BUS_ADDRESS`, else the well-known socket, where there is one.
    ///
    /// The environment is read here, on the caller's thread, and not again.
    package static func system() -> BusAddress {
        if let address = environment("DBUS_SYSTEM_BUS_ADDRESS") { return BusAddress(address) }
        return system(sockets: ["/run/dbus/system_bus_socket", "/var/run/dbus/system_bus_socket"])
    }

    static func system(sockets: [String]) -> BusAddress {
        guard let socket = sockets.first(where: { access($0, F_OK) == 0 }) else {
            return BusAddress(absent: "no system bus: \(sockets.first ?? "its socket") does not exist")
        }
        return BusAddress("unix:path=\(escaped(socket))")
    }

    /// The bus of the user's session: `DBUS_SESSION_BUS_ADDRESS`, else `bus` in `XDG_RUNTIME_DIR`.
    package static func session() -> BusAddress {
        if let address = environment("DBUS_SESSION_BUS_ADDRESS") { return BusAddress(address) }
        guard let directory = environment("XDG_RUNTIME_DIR") else {
            return BusAddress(
                absent: "no session bus: neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
        }
        guard access("\(directory)/bus", F_OK) == 0 else {
            return BusAddress(absent: "no session bus: \(directory)/bus does not exist")
        }
        return BusAddress("unix:path=\(escaped(directory))/bus")
    }

    private static func environment(_ name: String) -> String? {
        guard let value = linux_environment(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    /// A path as the value of an address: all but the bytes that D-Bus names as plain is written `%xx`.
    static func escaped(_ path: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"),
                UInt8(ascii: "\\"), UInt8(ascii: "."):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
