import JSON

/// The fields of a push besides title, body and priority: the same for `push` and `send`.
enum PushFields {
    private static let texts = [
        (Command.pushGroup, "group"), (Command.pushCollapse, "collapseKey"), (Command.pushImage, "imageUrl"),
        (Command.pushLink, "deepLink"), (Command.pushCategory, "category"), (Command.pushThread, "threadId"),
    ]
    private static let moments = [(Command.pushAt, "scheduledAt"), (Command.pushExpires, "expiresAt")]

    static let options = texts.map(\.0) + moments.map(\.0)

    static func read(_ arguments: Arguments) throws(Failure) -> JSONObject {
        var params: JSONObject = [:]
        for (option, name) in texts {
            if let text = arguments.text(option) { params[name] = .string(text) }
        }
        for (option, name) in moments {
            if let text = arguments.text(option) { params[name] = .integer(try LaterMoment.parse(text, option)) }
        }
        return params
    }
}
