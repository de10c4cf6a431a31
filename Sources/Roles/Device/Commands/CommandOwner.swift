import JSON
import Notifications
import Transport
import Wire

/// The receiver of a command's outcome.
enum CommandOwner: Sendable {
    case host(HostCommand)
    /// The offline queue sends it, for its command of this id.
    case queue(RequestID)
    case sync(InboxSync.Question)
    case change(PendingChange)
    /// It only makes the device known at its desktop.
    case presence
}

typealias CommandOrder = CommandSender<CommandOwner>.Order

/// A command of the host's.
struct HostCommand: Sendable {
    /// In the loop's milliseconds.
    let deadline: UInt64
    /// A history without its count of unread notifications: this command asks for it (WireDeployedPeers, "What a device
    /// accepts").
    var history: JSONObject?
    let then: @Sendable @EventLoop (CommandOutcome) -> Void

    enum Next: Sendable {
        /// Ask further, for the same host.
        case ask(Device.Command, HostCommand)
        /// Learn from the result, then tell the host.
        case learn(JSONObject)
        case tell(CommandOutcome)
    }

    func next(after command: Device.Command, _ outcome: CommandOutcome) -> Next {
        guard case .answered(let result) = outcome else { return .tell(outcome) }
        if var history {
            history["unreadCount"] = result["count"]
            return .tell(.answered(history))
        }
        guard case .notification(.getHistory) = command.kind, result["success"] == true, result["unreadCount"] == nil
        else { return .learn(result) }
        var next = self
        next.history = result
        return .ask(Device.Command(.getUnreadCount, wire: [:]), next)
    }
}
