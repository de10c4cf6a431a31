import Glibc
import Synchronization

/// Tells the user at a terminal what the program waits for, if it takes longer than a second.
struct Progress {
    /// In milliseconds.
    private static let patience: Int64 = 1_000
    private static let isSilent = Atomic<Bool>(false)

    /// With `--json` no progress is printed.
    static func silence() { isSilent.store(true, ordering: .relaxed) }

    private let text: () -> String
    private let begin = Clock.now
    private var said: String?

    /// - Parameter text: what the program waits for; it may change over time.
    init?(_ text: @escaping () -> String) {
        guard isatty(2) == 1, !Progress.isSilent.load(ordering: .relaxed) else { return nil }
        self.text = text
    }

    /// Prints it, if it is time.
    ///
    /// - Returns: when to call again for the first line; `nil` afterwards.
    mutating func step() -> Int64? {
        guard Clock.now &- begin >= Progress.patience else { return begin &+ Progress.patience }
        let text = text()
        if text != said { Output.notice("waiting for \(text) …", .dim) }
        said = text
        return nil
    }
}
