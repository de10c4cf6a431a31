import Glibc

/// Where the desktop of this machine keeps its files, as the library chooses it.
enum DesktopDirectory {
    /// `nil`: it stores nothing, and nobody finds it.
    static func path(_ arguments: Arguments) throws(Failure) -> String? {
        if let written = arguments.text(.desktopStateDirectory) {
            return written == ":memory:" ? nil : written
        }
        if let state = variable("XDG_STATE_HOME") { return "\(state)/bellwire/desktop" }
        if let home = variable("HOME") { return "\(home)/.local/state/bellwire/desktop" }
        throw Failure(.usage, "--state-dir is required, because neither XDG_STATE_HOME nor HOME is set")
    }

    /// Relative paths don't count.
    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.hasPrefix("/") ? text : nil
    }
}
