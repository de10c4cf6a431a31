import Glibc
import Hosting
import Identity

/// Paths in the environment, which are bytes.
enum EnvironmentPath {
    /// `nil` if the variable is not set or empty.
    static func read(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return BytePath.text(Array(UnsafeRawBufferPointer(start: value, count: strlen(value))))
    }

    /// A role's default state directory, as the library chooses it.
    static func stateDirectory(of role: String) throws(Failure) -> String {
        guard let path = StateDirectory.standard(role: role) else {
            throw Failure(.usage, "--state-dir is required, because neither XDG_STATE_HOME nor HOME is set")
        }
        return path
    }
}
