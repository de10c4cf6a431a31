/// Why a connection is not read at the moment.
package struct PauseReasons: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Its messages are not taken as fast as they arrive.
    package static let backpressure = PauseReasons(rawValue: 1)
    /// It has sent its bytes of this second.
    package static let rate = PauseReasons(rawValue: 2)
    package static let all: PauseReasons = [.backpressure, .rate]
}
