/// A banner as the arguments of `Notify` (Desktop Notifications Specification), by what the server says it can do.
struct BannerRequest: Sendable {
    static let tap = "default"
    static let inlineReply = "inline-reply"
    static let maximumActions = 8

    let program: String
    let icon: String
    let title: String
    let body: String
    /// Keys and titles, in turn.
    let actions: [String]
    let hints: [Hint]
    /// Milliseconds; -1 = as the server thinks right, 0 = never.
    let expires: Int32
    /// What the text field belongs to, if there is one.
    let replyID: String?

    struct Hint: Sendable, Equatable {
        let name: String
        let value: BusValue
    }

    init(_ banner: Banner, of identity: BannerServer.Identity, for server: NotificationServer) {
        let body = Self.body(of: banner)
        program = BannerText.line(identity.name, limit: 64)
        title = BannerText.line(banner.title)
        let image = FilePath.url(banner.imagePath)
        var text = server.offers("body-markup") ? BannerText.escaped(body) : body
        // Larger than beside the text. The address is quoted already.
        if let image, server.offers("body-markup"), server.offers("body-images") {
            text += "\(text.isEmpty ? "" : "\n")<img src=\"\(image)\" alt=\"\"/>"
        }
        self.body = text
        actions = Self.actions(of: banner, for: server)
        expires = banner.isQuestion || banner.urgency == .critical ? 0 : -1
        // Before 1.1 there is no hint for an image in a file; the icon may be one.
        let usesIcon = server.version < NotificationServer.Version(1, 1)
        icon = (usesIcon ? image : nil) ?? Self.icon(of: identity)
        var hints = [Hint(name: "urgency", value: .byte(banner.urgency.rawValue))]
        if let id = identity.applicationID, let id = ApplicationID(id) {
            hints.append(Hint(name: "desktop-entry", value: .text(id.text)))
        }
        if let image, !usesIcon {
            let isOld = server.version < NotificationServer.Version(1, 2)
            hints.append(Hint(name: isOld ? "image_path" : "image-path", value: .text(image)))
        }
        // A preview as wide as the banner, in KDE.
        if let image, server.offers("x-kde-urls") {
            hints.append(Hint(name: "x-kde-urls", value: .array([.text(image)], of: "s")))
        }
        // Servers play sounds that do not name the capability, and those that cannot pass over them.
        hints.append(Self.sound(banner.sound))
        if let category = banner.category, ThemeName.isValid(category) {
            hints.append(Hint(name: "category", value: .text(category)))
        }
        // KDE groups by it, and shows it beside the program's name. There is no such hint that others know.
        let thread = BannerText.line(banner.thread ?? "", limit: 64)
        if !thread.isEmpty, server.offers("x-kde-origin-name") {
            hints.append(Hint(name: "x-kde-origin-name", value: .text(thread)))
        }
        if banner.isTransient { hints.append(Hint(name: "transient", value: .bool(true))) }
        if let reply = banner.reply, ActionKey.isValid(reply.id), server.offers("actions"),
            server.offers(Self.inlineReply)
        {
            replyID = reply.id
            let placeholder = BannerText.line(reply.placeholder ?? "", limit: 128)
            if !placeholder.isEmpty {
                hints.append(Hint(name: "x-kde-reply-placeholder-text", value: .text(placeholder)))
            }
            hints.append(Hint(name: "x-kde-reply-submit-button-text", value: .text(Self.title(reply.title))))
        } else {
            replyID = nil
        }
        self.hints = hints
    }

    func arguments(replacing number: UInt32) -> [BusValue] {
        [
            .text(program), .uint32(number), .text(icon), .text(title), .text(body),
            .array(actions.map { .text($0) }, of: "s"),
            .array(hints.map { .entry(.text($0.name), .variant($0.value)) }, of: "{sv}"), .int32(expires),
        ]
    }

    // MARK: Its parts

    /// The subtitle is the first line.
    static func body(of banner: Banner) -> String {
        let subtitle = BannerText.line(banner.subtitle ?? "")
        let body = BannerText.lines(banner.body)
        return subtitle.isEmpty ? body : body.isEmpty ? subtitle : "\(subtitle)\n\(body)"
    }

    static func title(_ text: String) -> String {
        BannerText.line(text, limit: 64)
    }

    private static func actions(of banner: Banner, for server: NotificationServer) -> [String] {
        // Servers without them would ask the user in a window of their own, or show the list as text.
        guard server.offers("actions") else { return [] }
        var actions = banner.tapTitle.map { [tap, title($0)] } ?? []
        for action in banner.actions.prefix(maximumActions) where ActionKey.isValid(action.id) {
            actions += [ActionKey.key(of: action.id), title(action.title)]
        }
        if let reply = banner.reply, ActionKey.isValid(reply.id) {
            let key = server.offers(inlineReply) ? inlineReply : ActionKey.key(of: reply.id)
            actions += [key, title(reply.title)]
        }
        return actions
    }

    private static func icon(of identity: BannerServer.Identity) -> String {
        guard let icon = identity.icon ?? identity.applicationID else { return "" }
        return FilePath.url(icon) ?? (ThemeName.isValid(icon) ? icon : "")
    }

    private static func sound(_ sound: Banner.Sound) -> Hint {
        let standard = Hint(name: "sound-name", value: .text("message-new-instant"))
        switch sound {
        case .none: return Hint(name: "suppress-sound", value: .bool(true))
        case .standard: return standard
        case .named(let name):
            return ThemeName.isValid(name) ? Hint(name: "sound-name", value: .text(name)) : standard
        case .file(let path):
            guard let path = FilePath.checked(path) else { return standard }
            return Hint(name: "sound-file", value: .text(path))
        }
    }
}
