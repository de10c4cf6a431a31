/// A banner for `org.gtk.Notifications`, GNOME's own interface: plain texts, and actions that are calls of ours, for which
/// the desktop starts the program when it has ended.
enum GTKBannerRequest {
    static let name = "org.gtk.Notifications"
    static let path = "/org/gtk/Notifications"
    /// Names of our actions at `org.freedesktop.Application`; the parameter is a banner's id and an action's.
    static let tap = "bellwire-default"
    static let action = "bellwire-action"
    /// What such a server can do; there is no call that asks it.
    static let capabilities = ["actions", "body", "icon-static", "persistence"]
    static let maximumID = 1_024

    /// `nil` for an id that is empty or too long.
    static func encoded(_ id: String) -> String? {
        id.isEmpty || id.utf8.count > maximumID ? nil : PercentEncoding.encode(id)
    }

    /// The notification, the third argument of `AddNotification`. `id` is encoded.
    static func notification(_ banner: Banner, id: String) -> BusValue {
        var entries = [
            entry("title", .text(BannerText.line(banner.title))),
            entry("body", .text(BannerRequest.body(of: banner))),
            entry("priority", .text(priority(of: banner.urgency))),
        ]
        if banner.tapTitle != nil {
            entries.append(entry("default-action", .text("app.\(tap)")))
            entries.append(entry("default-action-target", target(id, BannerRequest.tap)))
        }
        if let image = FilePath.url(banner.imagePath) {
            entries.append(entry("icon", .structure([.text("file"), .variant(.text(image))])))
        }
        if let category = banner.category, ThemeName.isValid(category) {
            entries.append(entry("category", .text(category)))
        }
        var buttons: [BusValue] = []
        for action in banner.actions.prefix(BannerRequest.maximumActions) where ActionKey.isValid(action.id) {
            buttons.append(button(id, action.id, action.title))
        }
        // No text can be typed there.
        if let reply = banner.reply, ActionKey.isValid(reply.id) {
            buttons.append(button(id, reply.id, reply.title))
        }
        if !buttons.isEmpty { entries.append(entry("buttons", .array(buttons, of: "a{sv}"))) }
        return .array(entries, of: "{sv}")
    }

    /// Whose action was called, out of the name and parameters of `ActivateAction`; `nil` = none of ours.
    static func answer(_ name: String, _ parameters: [BusValue]) -> (id: String, action: String)? {
        guard name == tap || name == action, case .variant(.structure(let target))? = parameters.first else {
            return nil
        }
        var fields = BusFields(target)
        guard let id = try? fields.text(limit: 3 * maximumID), let key = try? fields.text(),
            let id = PercentEncoding.decode(id), encoded(id) != nil
        else { return nil }
        if name == tap { return key == BannerRequest.tap ? (id, BannerRequest.tap) : nil }
        guard let action = ActionKey.id(of: key) else { return nil }
        return (id, action)
    }

    private static func button(_ id: String, _ action: String, _ title: String) -> BusValue {
        .array(
            [
                entry("label", .text(BannerRequest.title(title))), entry("action", .text("app.\(Self.action)")),
                entry("target", target(id, ActionKey.key(of: action))),
            ], of: "{sv}")
    }

    private static func target(_ id: String, _ key: String) -> BusValue {
        .structure([.text(id), .text(key)])
    }

    private static func entry(_ name: String, _ value: BusValue) -> BusValue {
        .entry(.text(name), .variant(value))
    }

    private static func priority(of urgency: Banner.Urgency) -> String {
        switch urgency {
        case .low: "low"
        case .normal: "normal"
        case .critical: "urgent"
        }
    }
}
