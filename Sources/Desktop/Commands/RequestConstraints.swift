import Commands
import History
import Notifications
import Wire

/// What a Bellwire device's request demands: to be executed once, and not too late (`protocol.md` 4.5).
struct RequestConstraints: Sendable {
    /// The answer is kept under this key; `nil` for a method that only reads, which may be repeated freely.
    let key: AnswerTable.Key?
    /// After this moment the command is not executed.
    let expiresAt: EpochMilliseconds?
    /// The device's clock, as far as it is known.
    let now: EpochMilliseconds

    var isExpired: Bool { expiresAt.map { $0 < now } ?? false }

    init(_ request: CommandRequest, from device: PeerID, now: EpochMilliseconds) {
        let isRead = NotificationMethod(name: request.method)?.risk == .safe
        key = isRead ? nil : AnswerTable.Key(device: device, id: request.id, method: request.method)
        expiresAt = request.expiresAt
        self.now = now
    }
}
