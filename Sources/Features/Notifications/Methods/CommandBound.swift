package import JSON
package import Wire

/// Where a command about everything ends: at the newest notification that its user saw (WireMessages, "Commands about
/// everything").
///
/// Such a command can wait for hours. Without a bound it would also read or delete what was created in the meantime.
package struct CommandBound: Sendable, Equatable {
    /// Names at most so many notifications. The desktop takes the newest that it still has.
    package static let limit = 16

    package let ids: [NotificationID]
    /// When the newest was created, by the desktop's clock; for a device that has seen nothing, when the user asked. Counts
    /// only if the desktop has none of ``ids`` any more.
    package let moment: EpochMilliseconds?

    package init(ids: [NotificationID], moment: EpochMilliseconds?) {
        self.ids = Array(ids.prefix(Self.limit))
        self.moment = moment
    }

    /// `nil` = the command has no bound.
    package static func read(_ reader: ParameterReader) throws(NotificationsError) -> CommandBound? {
        let ids = try reader.ids("throughIds", limit: limit) ?? []
        let moment = try reader.integer("throughAt")
        guard !ids.isEmpty || moment != nil else { return nil }
        return CommandBound(ids: ids.map { NotificationID($0) }, moment: moment)
    }

    /// Whether a command with these parameters has a bound.
    package static func isGiven(in params: JSONObject) -> Bool {
        params["throughIds"] != nil || params["throughAt"] != nil
    }

    package var params: JSONObject {
        [
            "throughIds": ids.isEmpty ? nil : .array(ids.map { .string($0.text) }),
            "throughAt": moment.map(JSONValue.integer),
        ]
    }
}
