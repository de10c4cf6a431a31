import CBellwire
import JSON

extension Command {
    static let listen = Command(
        name: "listen",
        summary: "Prints what the paired desktops push, as it comes.",
        about: [
            """
            Connects to the paired desktops, stays connected, and prints a line for each push: time, priority, source, \
            title, body. What came in while nobody listened, and is in the store, comes first. Ctrl-C ends it.
            """,
            """
            With --json each line is an event, an object with "event" (notification.received), "desktop" and "data": \
            "id", "title", "body", "priority", "source", "createdAt" and more.
            """,
        ],
        operands: [],
        ownOptions: [listenCount, listenTimeout, listenAll] + DeviceSession.options,
        examples: [
            Example(line: "bellwire listen", says: "Prints pushes until Ctrl-C."),
            Example(
                line: "bellwire listen --count 1 --timeout 60 --json",
                says: "Waits a minute for one push; exit code 3 if none comes."),
        ],
        run: { arguments throws(Failure) in try runListen(arguments) })

    private static let listenCount = Option(
        "count", short: "n", .required("N"), "Ends after N pushes; those that wait behind them stay for the next time.")
    private static let listenTimeout = Option(
        "timeout", .required("SECONDS"), "Ends after so long; with --count, too few pushes by then are exit code 3.")
    private static let listenAll = Option("all", "Every event: also connections, pairings, unread counts, problems.")

    private static func runListen(_ arguments: Arguments) throws(Failure) -> Exit {
        let count = try arguments.integer(listenCount, in: 1...Int(Int32.max))
        let deadline =
            arguments.has(listenTimeout) ? Clock.now &+ Int64(try arguments.milliseconds(listenTimeout)) : nil
        let json = arguments.has(.json)
        let session = try DeviceSession(arguments)
        let desktops = try session.desktops()
        if desktops.isEmpty { _ = try session.desktop(arguments) }

        var received = 0
        var subscription: bw_subscription = 0
        var problem: Failure?
        subscription = try session.handle.subscribe(arguments.has(listenAll) ? "*" : "notification.received") {
            name, event in
            if json {
                Output.json(event)
            } else if name == "notification.received" {
                Output.line(NotificationLine.text(event["data"] ?? .null))
            } else {
                Output.line("\(name)  \(Printable.line((event["data"] ?? .null).serialized()))")
            }
            guard name == "notification.received" else { return }
            received += 1
            // Inside the callback: the next push is then not handed over to us, and is there the next time.
            if received == count {
                do throws(Failure) { try session.handle.unsubscribe(subscription) } catch { problem = error }
            }
        }
        var remaining = desktops
        try session.handle.subscribe("peers.changed") { _, event in
            let now = event["data"]?["desktops"]?.array?.compactMap { PairedPeer($0) } ?? []
            if !json {
                for gone in remaining where !now.contains(where: { $0.id == gone.id }) {
                    Output.notice("\(gone.name) is not paired any more")
                }
            }
            remaining = now
        }
        if !json { try notices(session, desktops) }
        try session.handle.start()
        let wake = try session.handle.wait(until: deadline) { () throws(Failure) in
            if let problem { throw problem }
            if remaining.isEmpty { throw Failure(.notPaired, "no desktop is paired any more") }
            return received == count
        }
        switch wake {
        case .done: return .done
        case .deadline:
            guard let count else { return .done }
            throw Failure(.offline, "\(received) of \(count) pushes came in time")
        case .signal(let signal):
            guard count == nil else { throw .interrupted(signal) }
            return .done
        }
    }

    /// Connections and problems, on standard error.
    private static func notices(_ session: DeviceSession, _ desktops: [PairedPeer]) throws(Failure) {
        var shown: [String: Connection] = [:]
        try session.handle.subscribe("connection.changed") { _, event in
            guard let id = event["desktop"]?.string, let data = event["data"] else { return }
            let connection = Connection(data)
            guard shown.updateValue(connection, forKey: id) != connection else { return }
            let name = desktops.first { $0.id == id }?.name ?? id
            if connection.isOnline {
                Output.notice("connected to \(name)")
            } else if let problem = connection.problem {
                Output.notice("not connected to \(name), trying on: \(problem)")
            }
        }
        try session.handle.subscribe("problem") { _, event in
            Output.notice(event["data"]?["message"]?.string ?? "a problem without a message")
        }
    }
}
