import Commands
import JSON
import Notifications
import Wire

/// Unsigned commands of unencrypted devices, until it is known who names senders at their relay (WireDeployedRelays,
/// "Forged senders"): a few seconds after the first registration there.
struct HeldCommands {
    /// Further ones are refused.
    static let limit = 64

    private var held: [(route: RouteID, transaction: CommandTransaction)] = []

    /// `false` = there are too many.
    mutating func hold(_ transaction: CommandTransaction, over route: RouteID) -> Bool {
        guard held.count < Self.limit else { return false }
        held.append((route, transaction))
        return true
    }

    /// Those of this route, in their order.
    mutating func release(_ route: RouteID) -> [CommandTransaction] {
        let released = held.filter { $0.route == route }.map(\.transaction)
        held.removeAll { $0.route == route }
        return released
    }
}

extension CommandRequest {
    /// Whether it does more than read. A forger gets nothing from reading: the answer goes to the device.
    var changesSomething: Bool { NotificationMethod(name: method).map { $0.row.risk != .safe } ?? false }
}

extension RemoteError {
    /// At this relay anyone can send in the device's name, and nothing shows that the device sent this command.
    static let forgeable = RemoteError(
        .permissionDenied,
        "refused (forgeable_relay): this relay lets anyone send in your name; sign commands, or use another relay",
        data: ["reason": "forgeable_relay"])
}
