import Glibc
import Synchronization

/// What is waited for, said to a person at a terminal when it takes longer than a second.
struct Progress {
    /// In milliseconds.
    private static let patience: Int64 = 1_000
    private static let isSilent = Atomic<Bool>(false)

    /// With `--json` nothing of this is said.
    static func silence() { isSilent.store(true, ordering: .relaxed) }

    private let text: () -> String
    private let begin = Clock.now
    private var said: String?

    /// - Parameter text: what is waited for now; it may change meanwhile.
    init?(_ text: @escaping () -> String) {
        guard isatty(2) == 1, !Progress.isSilent.load(ordering: .relaxed) else { return nil }
        self.text = text
    }

    /// Says it, when it is time to.
    ///
    /// - Returns: when to come again for the first line; `nil` afterwards.
    mutating func step() -> Int64? {
        guard Clock.now &- begin >= Progress.patience else { return begin &+ Progress.patience }
        let text = text()
        if text != said { Output.notice("waiting for \(text) …", .dim) }
        said = text
        return nil
    }
}
