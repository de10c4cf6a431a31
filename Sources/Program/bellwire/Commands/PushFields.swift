import JSON

/// The fields of a notification besides title and body: the same for `push` and `send`.
enum PushFields {
    private static let texts = [
        (Command.pushGroup, "group"), (Command.pushCollapse, "collapseKey"), (Command.pushImage, "imageUrl"),
        (Command.pushLink, "deepLink"), (Command.pushCategory, "category"), (Command.pushThread, "threadId"),
        (Command.pushSubtitle, "subtitle"), (Command.pushSound, "sound"),
    ]
    private static let moments = [(Command.pushAt, "scheduledAt"), (Command.pushExpires, "expiresAt")]

    static let options =
        texts.map(\.0) + [Command.pushButton, Command.pushBadge, Command.pushSilent, Command.pushData]
        + moments.map(\.0)

    /// As many as the HTTP door takes.
    private static let buttonLimit = 3

    static func read(_ arguments: Arguments) throws(Failure) -> JSONObject {
        var params: JSONObject = ["priority": .string(priority(arguments))]
        for (option, name) in texts {
            if let text = arguments.text(option) { params[name] = .string(text) }
        }
        for (option, name) in moments {
            if let text = arguments.text(option) { params[name] = .integer(try LaterMoment.parse(text, option)) }
        }
        if let badge = try arguments.integer(Command.pushBadge, in: 0...Int(Int32.max)) {
            params["badge"] = .integer(Int64(badge))
        }
        if arguments.has(Command.pushSilent) { params["silenced"] = true }
        if arguments.has(Command.ignoreQuietHours) { params["respectQuietHours"] = false }
        let data = try data(arguments)
        if !data.isEmpty { params["data"] = .object(data) }
        return params
    }

    private static func priority(_ arguments: Arguments) -> String {
        Priority.name(of: arguments.text(Command.sendPriority) ?? "normal")
    }

    /// What `--data` gives, and `--button` as the HTTP door passes its actions on.
    private static func data(_ arguments: Arguments) throws(Failure) -> JSONObject {
        var data: JSONObject = [:]
        for text in arguments.texts(Command.pushData) {
            let (name, value) = try pair(text, of: Command.pushData)
            data[name] = .string(value)
        }
        let buttons = try arguments.texts(Command.pushButton).map { text throws(Failure) -> JSONValue in
            let (label, url) = try pair(text, of: Command.pushButton)
            guard url.contains(":") else {
                throw Failure(.usage, "--button: \"\(url)\" is not a URL (see --help)")
            }
            return ["action": "view", "label": .string(label), "url": .string(url)]
        }
        guard buttons.count <= buttonLimit else {
            throw Failure(.usage, "--button can be given \(buttonLimit) times at most")
        }
        if !buttons.isEmpty { data["actions"] = .string(JSONValue.array(buttons).serialized()) }
        return data
    }

    private static func pair(_ text: String, of option: Option) throws(Failure) -> (String, String) {
        if let pair = text.assignment, !pair.name.isEmpty { return pair }
        guard case .required(let form) = option.value else { return (text, "") }
        throw Failure(.usage, "--\(option.name): \"\(text)\" is not \(form)")
    }
}
