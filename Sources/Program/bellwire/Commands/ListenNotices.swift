import CBellwire
import JSON

/// What `bellwire listen` says on standard error: the program that it uses the device through, connections, problems.
final class ListenNotices {
    private let session: DeviceSession
    private let desktops: [PairedPeer]
    private var shown: [String: Connection] = [:]
    /// The program that has the device open, if it is another one.
    private var holder: String?
    /// Whether the state has to be read: at the start, and when connections change, as they do with a new holder.
    private var isStale = true

    init(_ session: DeviceSession, _ desktops: [PairedPeer]) {
        self.session = session
        self.desktops = desktops
    }

    func subscribe() throws(Failure) {
        try session.handle.subscribe("connection.changed") { [unowned self] _, event in
            isStale = true
            if let id = event["desktop"]?.string, let data = event["data"] { show(Connection(data), of: id) }
        }
        try session.handle.subscribe("problem") { _, event in
            Output.notice(LibraryWords.text(event["data"]?["message"]?.string ?? "unknown problem"))
        }
        try KeyQuestion.follow(session.handle)
    }

    /// To be called outside of callbacks. A program that joins another one is told of no connection that is up already.
    func update() {
        // A holder that does not answer is reported as a problem.
        guard isStale, let state = try? result({ bw_device_state(session.pointer, $0) }) else { return }
        isStale = false
        show(holderOf: state["sharing"])
        guard holder != nil else { return }
        for connection in state["connection"]?.array ?? [] {
            if let id = connection["desktop"]?.string { show(Connection(connection), of: id, isFirst: true) }
        }
    }

    private func show(holderOf sharing: JSONValue?) {
        let program = sharing?["holder"]
        let name = Printable.line(program?["application"]?.string ?? "")
        let now: String? =
            sharing?["part"] == "guest"
            ? [name, "(process \(program?["process"]?.integer ?? 0))"].filter { !$0.isEmpty }.joined(separator: " ")
            : nil
        guard now != holder else { return }
        if holder != nil { shown = [:] }
        if let now {
            Output.notice("\(now) has the device open; this program uses its connections")
        } else if let holder {
            Output.notice("\(holder) no longer has the device open; this program connects itself")
        }
        holder = now
    }

    /// - Parameter isFirst: whether a desktop that is only being connected to is worth a line: nothing else would be said.
    private func show(_ connection: Connection, of id: String, isFirst: Bool = false) {
        guard shown[id] != connection, !isFirst || shown[id] == nil else { return }
        shown[id] = connection
        let name = desktops.first { $0.id == id }?.name ?? Printable.line(id)
        if connection.isOnline {
            Output.notice("connected to \(name)\(connection.route.map { " over \($0)" } ?? "")", .green)
        } else if let problem = connection.problem {
            Output.notice("not connected to \(name), retrying: \(problem)", .yellow)
        } else if connection.isAbsent {
            // The library keeps only the newest state: "online" may never be seen before this.
            Output.notice("not connected to \(name): it is offline", .yellow)
        } else if isFirst {
            Output.notice("not connected to \(name) yet", .yellow)
        }
    }
}
