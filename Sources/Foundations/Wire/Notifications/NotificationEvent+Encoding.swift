package import JSON

extension NotificationEvent {
    /// For whom a push is written (WireDeployedPeers, "What a desktop sends").
    package enum Form: Sendable, Hashable {
        /// `chainlesschain:event` with an object; `data` text -> text.
        case deployedObject
        /// `chainlesschain:event:notification` with a text of JSON-RPC; `data` text -> text.
        case deployedText
        /// `chainlesschain:event` with an object, `data` as it is, and the `pushSeq`.
        case bellwire

        /// The form for a paired device, by the platform that it told when it was paired.
        package init(platform: String, isBellwire: Bool) {
            if isBellwire {
                self = .bellwire
            } else {
                self = platform.lowercased() == "android" ? .deployedText : .deployedObject
            }
        }
    }

    /// The payload of a `message`.
    package func payload(as form: Form) -> JSONValue {
        switch form {
        case .deployedObject, .bellwire:
            var inner: JSONObject = ["event": .string(EventName.notificationReceived)]
            inner.merge(fields(as: form))
            return ["type": .string(PayloadType.event), "payload": .object(inner)]
        case .deployedText:
            let inner: JSONValue = [
                "jsonrpc": "2.0", "method": .string(EventName.notificationReceived),
                "params": .object(fields(as: form)),
            ]
            return ["type": .string(PayloadType.notificationEvent), "payload": .string(inner.serialized())]
        }
    }

    private func fields(as form: Form) -> JSONObject {
        var fields: JSONObject = [
            "notificationId": .string(id.text),
            "title": .string(title),
            "body": .string(body),
            "priority": .string(priority.name),
            "source": .string(source.rawValue),
            "timestamp": timestamp.map(JSONValue.integer),
        ]
        switch form {
        case .deployedObject, .deployedText: fields["data"] = data.map { .object(NotificationData.texts($0)) }
        case .bellwire: fields["data"] = data.map(JSONValue.object)
        }
        fields.merge(richer.members)
        if form == .bellwire { fields["pushSeq"] = pushSeq.map(JSONValue.integer) }
        return fields
    }
}
