import Glibc
import Synchronization

/// Colours, on terminals only.
enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case alarming = "1;31"
    case green = "32"
    case yellow = "33"

    /// The value of `--color`: 0 = auto, 1 = always, 2 = never.
    private static let choice = Atomic<Int>(0)

    static func choose(_ word: String?) {
        choice.store(["always": 1, "never": 2][word ?? ""] ?? 0, ordering: .relaxed)
    }

    /// Whether output to this descriptor has colours.
    static func isOn(_ descriptor: Int32) -> Bool {
        switch choice.load(ordering: .relaxed) {
        case 1: true
        case 2: false
        default: isatty(descriptor) == 1 && !isRefused
        }
    }

    /// NO_COLOR (no-color.org), or a terminal without colours.
    private static var isRefused: Bool {
        if let word = getenv("NO_COLOR"), word.pointee != 0 { return true }
        return getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
    }

    /// The text in this style, if the descriptor has colours. The text must be safe for a terminal (``Printable``).
    func of(_ text: String, on descriptor: Int32 = 1) -> String {
        Style.isOn(descriptor) && !text.isEmpty ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
    }
}
