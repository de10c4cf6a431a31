import Glibc
import JSON
import Relay

/// The relay's log on standard error: lines for people, or one JSON object a line.
struct RelayLogLines {
    let writesJSON: Bool
    /// `--json`: problems are events on standard output.
    let isJSONCommand: Bool
    let isVerbose: Bool

    /// - Parameter event: a name that stays, for those who filter by it.
    func write(_ level: RelayLogLevel, _ event: String, _ text: String) {
        let isWarning = level == .warning
        if isJSONCommand, isWarning {
            Output.json(["event": "problem", "data": ["code": .string(event), "message": .string(text)]])
        }
        if writesJSON {
            Output.errorLine(
                JSONValue.object([
                    "time": .string(Self.time), "level": isWarning ? "warning" : "info", "event": .string(event),
                    "message": .string(text),
                ]).serialized())
        } else if isWarning ? !isJSONCommand : isVerbose {
            Output.notice(isWarning ? text : "info: \(text)")
        }
    }

    /// `2026-01-31T12:00:00.000Z`.
    private static var time: String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var parts = tm()
        gmtime_r(&now.tv_sec, &parts)
        let date = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let base = buffer.baseAddress, strftime(base, 64, "%Y-%m-%dT%H:%M:%S", &parts) > 0 else { return "" }
            return String(cString: base)
        }
        let milliseconds = String(now.tv_nsec / 1_000_000)
        return "\(date).\(String(repeating: "0", count: max(0, 3 - milliseconds.count)))\(milliseconds)Z"
    }
}
