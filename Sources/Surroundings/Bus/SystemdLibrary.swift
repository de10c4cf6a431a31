import CSystemd

/// libsystemd, loaded when a bus is first wanted. Without it there are no buses, and everything else works.
package struct SystemdLibrary: Sendable {
    /// That of the machine.
    package static let shared = SystemdLibrary(named: "libsystemd.so.0")

    /// Why it cannot be used.
    let problem: BusError?

    init(named name: String) {
        var why = [CChar](repeating: 0, count: 256)
        guard bw_systemd_load(name, &why, why.count) < 0 else {
            problem = nil
            return
        }
        let reason = String(decoding: why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        problem = BusError(.unavailable, "\(name) cannot be loaded, so there is no D-Bus: \(reason)")
    }
}
