package import Calendar
package import JSON
package import Wire

extension Reminder {
    /// A host's reminder, added now: an alert with a trigger. Anything that is not as it must be is an error that names
    /// the field, and so is a time that never comes.
    ///
    /// - Parameter newID: its id, when it says none.
    package init(
        parsing object: JSONObject, newID: AlertID, now: EpochMilliseconds, in zone: LocalTime = .system
    ) throws(AlertsError) {
        var alert = object
        (alert["id"], alert["trigger"]) = (nil, nil)
        let reader = try FieldReader(object, allowing: AlertContent.fields + ["id", "trigger"])
        try self.init(
            id: try reader.plainText("id", 1...AlertContent.nameLimit).map(AlertID.init) ?? newID,
            content: try AlertContent(parsing: alert), trigger: try Trigger(parsing: object["trigger"]), addedAt: now,
            in: zone)
    }

    /// For the host: the alert with its id, its trigger, and when it comes next.
    package var json: JSONObject {
        var json: JSONObject = ["id": .string(id.text)]
        json.merge(content.json)
        json["trigger"] = .object(trigger.json)
        json["nextAt"] = nextAt.map(JSONValue.integer)
        return json
    }
}
