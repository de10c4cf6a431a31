import Glibc

/// The program's exit codes.
enum Exit: Sendable, Equatable {
    case done
    case failed
    case usage
    case offline
    case notPaired
    case inUse
    /// Ended by a signal before it was done.
    case interrupted(Int32)
    /// What the user's own command ended with.
    case ofCommand(Int32)

    var code: Int32 {
        switch self {
        case .done: 0
        case .failed: 1
        case .usage: 2
        case .offline: 3
        case .notPaired: 4
        case .inUse: 5
        case .interrupted(let signal): 128 &+ signal
        case .ofCommand(let code): code
        }
    }

    /// How a command ends that runs until it is stopped. SIGTERM and SIGHUP are a service manager's and a session's regular
    /// end of it; a Ctrl-C is an interruption.
    static func stopped(by signal: Int32) -> Exit { signal == SIGINT ? .interrupted(signal) : .done }

    var isInterruption: Bool { if case .interrupted = self { true } else { false } }

    /// For the help pages.
    static let table: [(String, String)] = [
        ("0", "Success."),
        ("1", "Refused or failed; standard error says why."),
        ("2", "Usage error: unknown option or invalid value."),
        ("3", "Offline, no answer in time, or no running desktop."),
        (
            "4",
            "Not found: no such paired desktop or device, notification, queued change, group, token, key or QR code."
        ),
        ("5", "In use: another process uses the state directory."),
        (
            "129, 130, 143",
            """
            Interrupted by SIGHUP, Ctrl-C or SIGTERM. Commands that run until they are stopped (relay, desktop, agent, \
            and listen without --count) exit with 0 after SIGTERM and SIGHUP.
            """
        ),
    ]
}
