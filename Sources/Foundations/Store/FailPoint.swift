#if FAILPOINTS
    import Glibc
    import Synchronization
#endif

/// A place at which tests kill the process, as in a power cut: nothing is flushed, nothing is sent.
///
/// Only debug builds have them (`FAILPOINTS` in Package.swift): there `BELLWIRE_FAIL_POINT=store.before_commit:17` ends
/// the process when it comes there for the seventeenth time. In the release library a call is nothing at all.
package enum FailPoint: String, CaseIterable, Sendable {
    /// All of a batch is in the transaction, and nothing is on the disk.
    case beforeCommit = "store.before_commit"
    /// It is on the disk, and nobody knows.
    case afterCommit = "store.after_commit"
    /// A desktop's push, or skip, is about to be written to a device.
    case beforeSend = "desktop.before_send"
    case afterSend = "desktop.after_send"
    /// A device is about to acknowledge what it has stored.
    case beforeAcknowledgement = "device.before_ack"
    case afterAcknowledgement = "device.after_ack"
    /// Pushes are marked as being handed over, and the host has not seen them.
    case beforeHandOver = "host.before_hand_over"
    /// The host has had them, and nothing says so.
    case beforeMark = "host.before_mark"
    case afterMark = "host.after_mark"

    @inline(__always)
    package func reach() {
        #if FAILPOINTS
            Self.armed?.reached(self)
        #endif
    }

    #if FAILPOINTS
        private static let armed = Armed()

        private final class Armed: Sendable {
            private let point: FailPoint
            private let count: Int
            private let times = Atomic(0)

            init?() {
                guard let text = getenv("BELLWIRE_FAIL_POINT").map({ String(cString: $0) }) else { return nil }
                let parts = text.split(separator: ":")
                guard parts.count == 2, let point = FailPoint(rawValue: String(parts[0])), let count = Int(parts[1])
                else { return nil }
                (self.point, self.count) = (point, count)
            }

            func reached(_ point: FailPoint) {
                guard point == self.point else { return }
                if times.wrappingAdd(1, ordering: .relaxed).newValue == count { kill(getpid(), SIGKILL) }
            }
        }
    #endif
}
