import Commands
import History
import Notifications
import Wire

/// A Bellwire device's request is executed once, and not after it expires; that of a program that shares the desktop is
/// executed once (WireMessages, "Repeated and late commands").
struct RequestConstraints: Sendable {
    /// The answer is kept under this key; `nil` for a method that only reads, which may be repeated freely.
    var key: AnswerTable.Key?
    /// After this moment the command is not executed.
    let expiresAt: EpochMilliseconds?
    /// The device's clock, as far as it is known.
    let now: EpochMilliseconds

    var isExpired: Bool { expiresAt.map { $0 < now } ?? false }

    init(_ request: CommandRequest, from device: PeerID, now: EpochMilliseconds) {
        let isRead = NotificationMethod(name: request.method)?.row.risk == .safe
        key = isRead ? nil : AnswerTable.Key(device: device, id: request.id, method: request.method)
        expiresAt = request.expiresAt
        self.now = now
    }

    /// In place of a device's id, for the answers to programs. No device has an empty id.
    private static let programs = PeerID("")

    /// A command of a program that shares the desktop, which the program repeats if the holder ends.
    init(_ id: RequestID, of method: NotificationMethod) {
        key =
            method.row.risk == .safe
            ? nil : AnswerTable.Key(device: Self.programs, id: id, method: method.name)
        (expiresAt, now) = (nil, 0)
    }
}
