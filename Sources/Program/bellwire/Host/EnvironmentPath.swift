import Glibc
import Identity

/// Paths in the environment, which are bytes.
enum EnvironmentPath {
    /// `nil` if the variable is not set or empty.
    ///
    /// - Parameter makes: ``BytePath/text(_:makes:)``.
    static func read(_ name: String, makes: Bool = false) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return BytePath.text(Array(UnsafeRawBufferPointer(start: value, count: strlen(value))), makes: makes)
    }

    /// A role's default state directory, as the library chooses it (bellwire.h, bw_device_open()): relative paths don't
    /// count.
    static func stateDirectory(of role: String) throws(Failure) -> String {
        func absolute(_ name: String, makes: Bool) -> String? {
            read(name, makes: makes).flatMap { path in path.hasPrefix("/") ? path : nil }
        }
        if let state = absolute("XDG_STATE_HOME", makes: true) { return "\(state)/bellwire/\(role)" }
        if let home = absolute("HOME", makes: false) { return "\(home)/.local/state/bellwire/\(role)" }
        throw Failure(.usage, "--state-dir is required, because neither XDG_STATE_HOME nor HOME is set")
    }
}
