import JSON
import Wire

extension PushServicePayload {
    /// The text to show, for both services.
    private struct Shown {
        var title = ""
        var subtitle: String?
        var body = ""
        /// What stands for texts that the program has in the user's language: see ``PushServicePayload/data``.
        var localization: JSONObject = [:]

        var isEmpty: Bool { title.isEmpty && body.isEmpty && subtitle == nil }

        /// - Parameter separator: of the services' names: `title-loc-key`, `title_loc_key`.
        init(_ alert: JSONObject, separator: String, bodyKey: String) {
            /// A text, else its key.
            func text(_ name: String, _ prefix: String) -> String? {
                if let text = PushServicePayload.text(alert[name]) { return text }
                let prefix = prefix.isEmpty ? "loc" : "\(prefix)\(separator)loc"
                guard let key = PushServicePayload.text(alert["\(prefix)\(separator)key"]) else { return nil }
                let arguments = alert["\(prefix)\(separator)args"]
                localization[name] = ["key": .string(key), "args": arguments.flatMap(PushServicePayload.array)]
                return key
            }
            title = text("title", "title") ?? ""
            subtitle = text("subtitle", "subtitle")
            body = text("body", bodyKey) ?? ""
        }

        init(title: String = "", subtitle: String? = nil, body: String = "") {
            (self.title, self.subtitle, self.body) = (title, subtitle, body)
        }
    }

    // MARK: APNs

    static func apns(_ aps: JSONObject, in payload: JSONObject) -> PushServicePayload? {
        let isContentAvailable = truth(aps["content-available"])
        let badge = count(aps["badge"])
        let fields = Fields(payload, isOpen: true)
        var priority = fields.priority
        switch aps["interruption-level"]?.string {
        case "passive": priority = .low
        case "active": priority = .normal
        case "time-sensitive", "critical": priority = .urgent
        // A sound that is critical says how urgent it is.
        case nil: if truth(aps["sound"]?["critical"]) { priority = .urgent }
        default: break
        }
        var shown = shown(aps["alert"])
        // An urgent push is never silent: its text may be in the data.
        if shown.isEmpty, isContentAvailable, priority == .urgent { shown = fields.shown }
        guard let kind = kind(shown, isContentAvailable, badge) else { return nil }
        var result = PushServicePayload(kind: kind)
        result.richer.badge = badge
        result.priority = priority
        result.richer.sound = sound(aps["sound"]) ?? "none"
        result.richer.category = text(aps["category"]) ?? fields.text("category")
        result.richer.threadID = text(aps["thread-id"]) ?? fields.text("threadId")
        result.isContentAvailable = isContentAvailable
        result.isMutable = truth(aps["mutable-content"])
        result.take(fields, shown, payload)
        return result
    }

    /// `alert` is either the body or an object.
    private static func shown(_ alert: JSONValue?) -> Shown {
        if let body = alert?.string { return Shown(body: body) }
        return Shown(alert?.object ?? [:], separator: "-", bodyKey: "")
    }

    /// A name, or an object with one.
    private static func sound(_ value: JSONValue?) -> String? { text(value) ?? text(value?["name"]) }

    // MARK: FCM

    static func fcm(_ message: JSONObject) -> PushServicePayload? {
        let notification = message["notification"]?.object ?? [:]
        let fields = Fields(message, isOpen: false)
        var shown = Shown(notification, separator: "_", bodyKey: "body")
        // A message with only data is background work, unless it is one of our own pushes or urgent.
        let isData = shown.isEmpty && fields.data != nil
        if isData, fields.text("notificationId") != nil || fields.priority == .urgent { shown = fields.shown }
        let badge = count(notification["badge"]) ?? count(notification["notification_count"])
        let isWork = isData && shown.isEmpty && fields.data?.isEmpty == false
        let isContentAvailable = truth(message["content_available"]) || isWork
        guard let kind = kind(shown, isContentAvailable, badge) else { return nil }
        var result = PushServicePayload(kind: kind)
        result.richer.badge = badge ?? fields.badge
        result.priority = fields.priority
        result.richer.sound = text(notification["sound"]) ?? fields.text("sound")
        result.richer.category = text(notification["click_action"]) ?? fields.text("category")
        result.richer.threadID = fields.text("threadId")
        result.richer.collapseKey = text(notification["tag"])
        result.isContentAvailable = isContentAvailable
        result.take(fields, shown, message)
        return result
    }

    // MARK: Both

    private static func kind(_ shown: Shown, _ isContentAvailable: Bool, _ badge: Int64?) -> Kind? {
        if !shown.isEmpty { return .alert }
        if isContentAvailable { return .silent }
        return badge == nil ? nil : .badge
    }

    private mutating func take(_ fields: Fields, _ shown: Shown, _ payload: JSONObject) {
        (title, richer.subtitle, body) = (shown.title, shown.subtitle, shown.body)
        id = fields.text("notificationId").map { NotificationID($0) }
        desktop = fields.text("desktop").map { PeerID($0) }
        data = fields.userInfo
        if !shown.localization.isEmpty { data["localization"] = .object(shown.localization) }
        richer.collapseKey = richer.collapseKey ?? fields.text("collapseKey") ?? fields.text("collapse_key")
        richer.deepLink = fields.text("deepLink") ?? fields.text("deep_link")
        richer.silenced = fields.isSilenced ? true : nil
        richer.expiresAt = fields.expiresAt
        guard isMutable else { return }
        richer.imageURL = ImageSource.first(in: payload)
        richer.encryptedBody = fields.object("encrypted_body")
    }

    /// The members beside `data` and inside it. Those beside it win.
    private struct Fields {
        let beside: JSONObject
        let data: JSONObject?
        /// Whether members beside `data` belong to the program, as with APNs.
        let isOpen: Bool

        /// What the services call their own description of the alert: no data.
        private static let ofServices = [
            "aps", "loc-key", "loc-args", "title-loc-key", "title-loc-args", "subtitle-loc-key", "subtitle-loc-args",
            "title_loc_key", "title_loc_args", "body_loc_key", "body_loc_args",
        ]

        init(_ payload: JSONObject, isOpen: Bool) {
            beside = payload
            data = payload["data"]?.object
            self.isOpen = isOpen
        }

        func text(_ name: String) -> String? {
            PushServicePayload.text(beside[name]) ?? PushServicePayload.text(data?[name])
        }

        /// FCM's data holds only strings: an object is a string with its JSON.
        func object(_ name: String) -> JSONObject? {
            let value = beside[name] ?? data?[name]
            return value?.object ?? value?.string.flatMap { (try? JSONValue(parsing: $0))?.object }
        }

        var isSilenced: Bool { PushServicePayload.truth(beside["silenced"] ?? data?["silenced"]) }
        var expiresAt: EpochMilliseconds? {
            let value = beside["expiresAt"] ?? data?["expiresAt"]
            return value?.integer ?? value?.string.flatMap { Int64($0) }
        }

        var badge: Int64? { PushServicePayload.count(beside["badge"]) ?? PushServicePayload.count(data?["badge"]) }

        var priority: Priority {
            func said(_ fields: JSONObject?) -> Priority? {
                fields?["priority"]?.string.flatMap { Priority(name: $0) }
                    ?? fields?["urgency"]?.string.flatMap { Priority(name: $0) }
            }
            return said(data) ?? said(beside) ?? .normal
        }

        var shown: Shown {
            Shown(title: text("title") ?? "", subtitle: text("subtitle"), body: text("body") ?? text("message") ?? "")
        }

        /// The data that comes back with the response. With APNs also the members beside it, unless the data has them.
        var userInfo: JSONObject {
            var all = JSONObject()
            if isOpen {
                for member in beside.members {
                    if member.key == "data", data != nil { continue }
                    all[member.key] = member.value
                }
            }
            all.merge(data ?? [:])
            for name in Self.ofServices { all[name] = nil }
            return all
        }
    }

    /// A non-empty string.
    fileprivate static func text(_ value: JSONValue?) -> String? {
        value?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// An array, or its JSON, as FCM writes it.
    fileprivate static func array(_ value: JSONValue) -> JSONValue? {
        let value = value.string.flatMap { try? JSONValue(parsing: $0) } ?? value
        return value.array == nil ? nil : value
    }

    /// A non-negative number, or its digits, as FCM writes it.
    fileprivate static func count(_ value: JSONValue?) -> Int64? {
        guard let number = value?.integer ?? value?.string.flatMap({ Int64($0) }), number >= 0 else { return nil }
        return number
    }

    /// 1, true, or either as a string.
    fileprivate static func truth(_ value: JSONValue?) -> Bool {
        value?.bool ?? value?.integer.map { $0 == 1 } ?? value?.string.map { $0 == "1" || $0 == "true" } ?? false
    }
}
