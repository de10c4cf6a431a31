package import Calendar
package import JSON
package import Wire

extension Reminder {
    /// A host's reminder, added now: an alert with a trigger. Anything that is not as it must be is an error that names
    /// the field, and so is a time that never comes.
    ///
    /// - Parameter newID: the id to use if the reminder has none.
    package init(
        parsing object: JSONObject, newID: AlertID, now: EpochMilliseconds, in zone: LocalTime = .system
    ) throws(AlertsError) {
        var alert = object
        (alert["id"], alert["trigger"]) = (nil, nil)
        let reader = try FieldReader(object, allowing: AlertContent.fields + ["id", "trigger"])
        let id = try reader.plainText("id", 1...AlertContent.nameLimit)
        guard id?.hasPrefix(Reminder.reservedPrefix) != true else {
            throw reader.fault("id", "must not begin with the reserved prefix \"\(Reminder.reservedPrefix)\"")
        }
        try self.init(
            id: id.map(AlertID.init) ?? newID,
            content: try AlertContent(parsing: alert), trigger: try Trigger(parsing: object["trigger"]), addedAt: now,
            in: zone)
    }

    /// Of the ids of digests and of the question for the authorization.
    package static let reservedPrefix = "bellwire."

    /// For the host: the alert with its id, its trigger, and when it comes next.
    package var json: JSONObject {
        var json: JSONObject = ["id": .string(id.text)]
        json.merge(content.json)
        json["trigger"] = .object(trigger.json)
        json["nextAt"] = nextAt.map(JSONValue.integer)
        return json
    }
}
