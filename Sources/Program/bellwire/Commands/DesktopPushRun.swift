import JSON

/// One run of `bellwire push`.
struct DesktopPushRun {
    private let arguments: Arguments
    private let json: Bool
    private let desktop: LocalDesktop

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.exclude([Command.pushDevice, Command.pushGroup], of: "push")
        try arguments.exclude([Command.pushWithdraw, Command.pushScheduled], of: "push")
        self.arguments = arguments
        json = arguments.has(.json)
        desktop = try LocalDesktop(arguments)
    }

    func run() throws(Failure) -> Exit {
        if arguments.has(Command.pushScheduled) {
            try list()
        } else if let id = arguments.text(Command.pushWithdraw) {
            try withdraw(id)
        } else {
            try push()
        }
        return .done
    }

    private func push() throws(Failure) {
        let answer = try desktop.notify(try parameters())
        if arguments.has(Command.sendQuiet) { return }
        if json { return Output.json(answer) }
        Output.line(answer["notificationId"]?.string ?? "")
    }

    private func parameters() throws(Failure) -> JSONObject {
        var params = try SendRun.notification(arguments)
        params["answerWhen"] = "stored"
        if let device = arguments.text(Command.pushDevice) { params["deviceId"] = .string(device) }
        params.merge(try PushFields.read(arguments))
        return params
    }

    private func withdraw(_ id: String) throws(Failure) {
        let answer = try desktop.invoke("notification.delete", ["notificationId": .string(id)])
        guard answer["deletedCount"]?.integer ?? 0 > 0 else { throw Failure(.notPaired, "no notification has this id") }
        if json { Output.json(answer) } else { Output.line("Withdrawn.") }
    }

    private func list() throws(Failure) {
        let rows = try desktop.invoke("desktop.scheduled")["scheduled"]?.array ?? []
        if json { return Output.json("scheduled", rows) }
        if rows.isEmpty { return Output.notice("no notifications are scheduled") }
        for row in rows {
            let moment = Clock.text(ofEpochMilliseconds: row["scheduledAt"]?.integer ?? 0)
            let group = row["group"]?.string.map { "  to \($0)" } ?? ""
            Output.line(
                "\(moment)  \(Printable.line(row["id"]?.string ?? ""))  \(Printable.line(row["title"]?.string ?? ""))"
                    + Printable.line(group))
        }
    }
}
