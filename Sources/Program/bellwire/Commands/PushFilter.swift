import CBellwire
import JSON

/// Which pushes `bellwire listen --filter` takes.
///
/// Of conditions with the same key one must hold, and of each key.
struct PushFilter {
    enum Key: String, CaseIterable {
        case text
        case priority
        case source
        case desktop
        case category
        case thread
    }

    private let wanted: [Key: [String]]
    /// By what name it takes pushes: each filter is a program of its own, which gets its own copy of every push. So what
    /// it leaves out is not lost for others.
    let program: String

    /// `nil` without the option.
    init?(_ arguments: Arguments) throws(Failure) {
        let words = arguments.texts(Command.listenFilter)
        guard !words.isEmpty else { return nil }
        var wanted: [Key: [String]] = [:]
        for word in words {
            guard let (name, value) = word.assignment, let key = Key(rawValue: name) else {
                let keys = Key.allCases.map { "\($0.rawValue)=…" }.joined(separator: ", ")
                throw Failure(.usage, "--filter: \"\(word)\" must be one of \(keys) (see bellwire listen --help)")
            }
            wanted[key, default: []].append(try PushFilter.value(value, of: key))
        }
        self.wanted = wanted
        let conditions = wanted.flatMap { key, values in values.map { "\(key.rawValue)=\($0)" } }
        program = "bellwire listen " + Set(conditions).sorted().joined(separator: " ")
    }

    private static func value(_ text: String, of key: Key) throws(Failure) -> String {
        switch key {
        case .text:
            guard !text.trimmed.isEmpty else { throw Failure(.usage, "--filter: text= needs words") }
        case .priority:
            guard Priority.words.contains(text) else {
                let words = Priority.words.joined(separator: ", ")
                throw Failure(.usage, "--filter: priority=\(text) must be one of \(words)")
            }
            return Priority.name(of: text)
        case .source, .desktop, .category, .thread: break
        }
        return text
    }

    /// With ids in place of the desktops' names.
    private init(_ filter: PushFilter, desktops: [String]) {
        var wanted = filter.wanted
        if !desktops.isEmpty { wanted[.desktop] = desktops }
        (self.wanted, program) = (wanted, filter.program)
    }

    /// Checks what only the device knows: its desktops, and which words the inbox can search for.
    func checked(in session: DeviceSession) throws(Failure) -> PushFilter {
        let all = try session.desktops()
        let ids = try (wanted[.desktop] ?? []).map { word throws(Failure) in
            try PairedPeer.find(word, in: all, kind: "desktop").id
        }
        for words in wanted[.text] ?? [] { _ = try PushFilter.page(["query": .string(words), "limit": 1], session) }
        return PushFilter(self, desktops: ids)
    }

    /// - Parameter event: `notification.received`.
    func matches(_ event: JSONValue, in session: DeviceSession) throws(Failure) -> Bool {
        let data = event["data"] ?? .null
        for (key, values) in wanted {
            let value: String? =
                switch key {
                case .text: nil
                case .priority: data["priority"]?.string ?? "normal"
                case .source: data["source"]?.string
                case .desktop: event["desktop"]?.string
                case .category: data["category"]?.string
                case .thread: data["threadId"]?.string
                }
            guard key != .text else {
                guard try isFound(event, values, session) else { return false }
                continue
            }
            guard let value, values.contains(value) else { return false }
        }
        return true
    }

    /// Asks the inbox, so that words mean the same as for `bellwire inbox --search`.
    private func isFound(
        _ event: JSONValue, _ texts: [String], _ session: DeviceSession
    ) throws(Failure) -> Bool {
        let (id, moment) = (event["data"]?["id"], event["data"]?["createdAt"])
        for words in texts {
            var params: JSONObject = [
                "query": .string(words), "since": moment, "until": moment, "limit": 500,
            ]
            var before: JSONValue?
            repeat {
                params["before"] = before
                let page = try PushFilter.page(params, session)
                let isHere = (page["notifications"]?.array ?? []).contains {
                    $0["id"] == id && $0["desktop"] == event["desktop"]
                }
                if isHere { return true }
                before = page["next"]
            } while before != nil
        }
        return false
    }

    private static func page(_ params: JSONObject, _ session: DeviceSession) throws(Failure) -> JSONValue {
        try result { bw_inbox_load(session.pointer, JSONValue.object(params).serialized(), $0) }
    }
}
