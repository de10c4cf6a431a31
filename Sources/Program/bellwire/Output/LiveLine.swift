import Glibc

/// The last line of a terminal, which says what the program waits for and is replaced when that changes. Nothing is shown
/// if the output is not a terminal.
final class LiveLine {
    let isThere: Bool
    private var shown = ""

    init() {
        let isDumb = getenv("TERM").map { String(cString: $0) == "dumb" } ?? true
        isThere = Output.isTerminal && !isDumb
    }

    deinit { clear() }

    func show(_ text: String) {
        guard isThere else { return }
        // One that wraps could not be replaced.
        let room = (Output.size?.columns ?? 80) - 1
        let line = text.count > room ? text.prefix(max(0, room - 1)) + "…" : text[...]
        guard line != shown else { return }
        Output.text("\r\u{1B}[K" + Style.dim.of(String(line)))
        shown = String(line)
    }

    /// To be called before anything else is printed.
    func clear() {
        guard !shown.isEmpty else { return }
        Output.text("\r\u{1B}[K")
        shown = ""
    }
}
