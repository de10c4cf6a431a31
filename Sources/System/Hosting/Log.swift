/// How much a log line matters. The values are those of `enum bw_log_level`.
package enum LogLevel: Int32, Sendable, Comparable {
    case debug, info, warning, error

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// Takes one line; from any thread, without waiting. A line never has payload text, a key or a code.
package typealias Log = @Sendable (LogLevel, String) -> Void
