package import Alerts
import Glibc

extension AlertLanguage {
    /// The language of the process's environment.
    package static var ofEnvironment: AlertLanguage { AlertLanguage { getenv($0).map { String(cString: $0) } } }
}
