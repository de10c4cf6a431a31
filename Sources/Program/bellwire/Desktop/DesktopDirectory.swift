/// Where the desktop of this machine keeps its files, as the library chooses it.
enum DesktopDirectory {
    /// `nil`: it stores nothing, and nobody finds it.
    static func path(_ arguments: Arguments) throws(Failure) -> String? {
        if let written = arguments.text(.desktopStateDirectory) {
            return written == ":memory:" ? nil : written
        }
        return try EnvironmentPath.stateDirectory(of: "desktop")
    }
}
