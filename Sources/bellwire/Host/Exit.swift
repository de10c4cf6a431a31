/// What the program ends with.
enum Exit: Sendable, Equatable {
    case done
    case failed
    case usage
    case offline
    case notPaired
    case inUse
    /// Ended by a signal before it was done.
    case interrupted(Int32)

    var code: Int32 {
        switch self {
        case .done: 0
        case .failed: 1
        case .usage: 2
        case .offline: 3
        case .notPaired: 4
        case .inUse: 5
        case .interrupted(let signal): 128 &+ signal
        }
    }

    var isInterruption: Bool { if case .interrupted = self { true } else { false } }

    /// For the help pages.
    static let table: [(String, String)] = [
        ("0", "Done."),
        ("1", "Refused or failed; the line on standard error says why."),
        ("2", "Usage: an unknown option, or a value that cannot be."),
        ("3", "Offline, or no answer in time."),
        ("4", "No such desktop or device is paired; or no such notification, command or QR code is there."),
        ("5", "In use: another process holds the state directory."),
        ("130, 143", "Interrupted (Ctrl-C, SIGTERM) before it was done."),
    ]
}
