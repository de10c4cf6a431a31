import CBellwire
import JSON

/// One run of `bellwire queue`.
struct QueueRun {
    private let arguments: Arguments
    private let action: String
    private let ids: [String]
    private let json: Bool
    private let session: DeviceSession

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        action = arguments.operands.first ?? "list"
        ids = Array(arguments.operands.dropFirst())
        json = arguments.has(.json)
        let problem: String? =
            switch action {
            case "list", "run", "clear": ids.isEmpty ? nil : "\(action) takes no ID"
            case "remove": ids.isEmpty ? "remove needs the IDs of changes" : nil
            case "retry": nil
            default: "unknown action \"\(action)\"; actions are list, run, retry, remove, clear"
            }
        if let problem { throw Failure(.usage, "\(problem) (see bellwire queue --help)") }
        session = try DeviceSession(arguments)
    }

    func run() throws(Failure) -> Exit {
        switch action {
        case "run": try carryOut()
        case "retry" where ids.isEmpty:
            let failed = try commands().filter(\.isFailed)
            try check(bw_queue_retry(session.pointer, nil))
            say(failed, "is pending again.")
        case "retry":
            let found = try find()
            for command in found { try check(bw_queue_retry(session.pointer, command.id)) }
            say(found, "is pending again.")
        case "remove":
            let found = try find()
            for command in found { try check(bw_queue_remove(session.pointer, command.id)) }
            say(found, "was removed.")
        case "clear":
            let failed = try commands().filter(\.isFailed)
            try check(bw_queue_clear(session.pointer, 0))
            say(failed, "was removed.")
        default: list(try commands())
        }
        return .done
    }

    // MARK: The list

    private struct Queued {
        let id: String
        let json: JSONValue

        init?(_ json: JSONValue) {
            guard let id = json["id"]?.string else { return nil }
            self.id = id
            self.json = json
        }

        var state: String { json["state"]?.string ?? "" }
        var isFailed: Bool { state == "failed" }
        var method: String { Printable.line(json["method"]?.string ?? "") }
    }

    private func commands() throws(Failure) -> [Queued] {
        try result { bw_queue_list(session.pointer, $0) }.array?.compactMap { Queued($0) } ?? []
    }

    private func list(_ commands: [Queued]) {
        if json {
            Output.json("changes", commands.map(\.json))
            return
        }
        if commands.isEmpty { return Output.notice("the queue is empty") }
        for command in commands {
            let time = Clock.text(ofEpochMilliseconds: command.json["createdAt"]?.integer ?? 0)
            let state = Printable.padded(command.state, to: 7)
            let problem = command.json["error"]?["message"]?.string.map { Printable.line($0) }
            let parts = [
                command.isFailed ? Style.red.of(state) : state, "\(command.json["tries"]?.integer ?? 0)", time,
                command.method, command.id, problem ?? "",
            ]
            Output.line(parts.filter { !$0.isEmpty }.joined(separator: "  "))
        }
    }

    private func say(_ commands: [Queued], _ what: String) {
        if json { return Output.json("changes", commands.map(\.json)) }
        if commands.isEmpty { Output.notice("no failed changes") }
        for command in commands { Output.line("\(command.method) \(command.id) \(what)") }
    }

    private func find() throws(Failure) -> [Queued] {
        let all = try commands()
        return try ids.map { word throws(Failure) in
            let found = all.filter { $0.id == word || !word.isEmpty && $0.id.hasPrefix(word) }
            guard let command = found.first else {
                throw Failure(.notPaired, "nothing in the queue matches \"\(word)\" (see bellwire queue)")
            }
            guard found.count == 1 || command.id == word else {
                throw Failure(.usage, "\"\(word)\" matches \(found.count) changes; give more of the id")
            }
            return command
        }
    }

    // MARK: Carrying out

    private func carryOut() throws(Failure) {
        let deadline = Clock.now &+ Int64(try arguments.milliseconds(Command.queueTimeout))
        var failed = 0
        // By their ends, not by the list: what has left it may not have been told yet.
        var waiting = Set(try commands().filter { !$0.isFailed }.map(\.id))
        if waiting.isEmpty, !json { return Output.notice("no change waits in the queue") }
        try session.handle.subscribe("queue.ended") { [json] _, event in
            let data = event["data"] ?? .null
            waiting.remove(data["id"]?.string ?? "")
            if data["outcome"]?.string == "failed" { failed += 1 }
            if json { return Output.json(event) }
            let problem = data["error"]?["message"]?.string.map { ": \($0)" } ?? ""
            let method = data["method"]?.string ?? ""
            Output.line(
                Printable.line("\(method) \(data["id"]?.string ?? "") \(data["outcome"]?.string ?? "")\(problem)"))
        }
        try session.handle.start()
        let wake = try session.handle.wait(until: deadline, waitingFor: Progress { "the desktops" }) {
            () throws(Failure) in waiting.isEmpty
        }
        if case .signal(let signal) = wake { throw .interrupted(signal) }
        // What is left.
        if json { list(try commands()) }
        switch wake {
        case .signal: break
        case .deadline:
            let reason = session.problem
            throw Failure(
                .offline, "\(waiting.count) still waiting\(reason.isEmpty ? ": their desktops are offline" : reason)")
        case .done:
            if failed > 0 { throw Failure(.failed, "\(failed) failed (see bellwire queue)") }
        }
    }
}
