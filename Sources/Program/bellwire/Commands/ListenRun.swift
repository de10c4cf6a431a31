import CBellwire
import JSON

/// One run of `bellwire listen`.
final class ListenRun {
    private static let push = "notification.received"
    private static let day = 86_400

    private let json: Bool
    private let showsAll: Bool
    /// So many pushes; `nil` = until it is ended.
    private let count: Int?
    private let deadline: Int64?
    private let command: PushCommand?
    private let filter: PushFilter?
    private let session: DeviceSession
    private let desktops: [PairedPeer]
    /// Those that are still paired.
    private var remaining: [PairedPeer]
    private var received = 0
    /// `nil` while no push is wanted.
    private var subscription: bw_subscription?
    private var problem: Failure?
    /// Came while a command ran.
    private var signal: Int32?
    /// What the user is told; `nil` with `--json`.
    private let notices: ListenNotices?

    init(_ arguments: Arguments) throws(Failure) {
        Interrupt.reportHangups()
        try arguments.exclude([Command.listenCount, Command.listenOnce], of: "listen")
        try arguments.exclude([Command.listenAll, Command.listenFilter], of: "listen")
        json = arguments.has(.json)
        showsAll = arguments.has(Command.listenAll)
        count =
            arguments.has(Command.listenOnce)
            ? 1 : try arguments.integer(Command.listenCount, in: 1...Int(Int32.max))
        deadline =
            arguments.has(Command.listenTimeout)
            ? Clock.now &+ Int64(try arguments.milliseconds(Command.listenTimeout, most: ListenRun.day)) : nil
        command = try ListenRun.command(arguments)
        if showsAll, command != nil {
            throw Failure(
                .usage,
                "--all cannot be combined with a command, which runs for pushes only (see bellwire listen --help)")
        }
        let filter = try PushFilter(arguments)
        let application = arguments.text(Command.listenApplication)
        // Pushes that no program has received yet belong to the first that asks: those that the filter leaves out must
        // stay for the next listen.
        if filter != nil { try DeviceSession(arguments).handle.join(ListenRun.push) }
        session = try DeviceSession(
            arguments,
            options: [
                "application_id": application.map { .string($0) },
                "program": application == nil ? filter.map { .string($0.program) } : nil,
            ])
        self.filter = try filter?.checked(in: session)
        desktops = try session.desktops()
        remaining = desktops
        notices = json ? nil : ListenNotices(session, desktops)
        if desktops.isEmpty { _ = try session.desktop(arguments) }
    }

    private static func command(_ arguments: Arguments) throws(Failure) -> PushCommand? {
        let text = arguments.text(Command.listenExec)
        guard text == nil || arguments.operands.isEmpty else {
            throw Failure(.usage, "--exec and a COMMAND cannot be combined (see bellwire listen --help)")
        }
        let words = text.map { ["/bin/sh", "-c", $0] } ?? arguments.operands
        guard let program = words.first else {
            guard !arguments.isWritten(Command.listenExecTimeout) else {
                throw Failure(.usage, "--exec-timeout requires --exec (see bellwire listen --help)")
            }
            return nil
        }
        guard !program.isEmpty, text?.trimmed.isEmpty != true else {
            throw Failure(.usage, "--exec: the command is empty")
        }
        let limit =
            arguments.has(Command.listenExecTimeout)
            ? try arguments.milliseconds(Command.listenExecTimeout, most: day) : nil
        return PushCommand(words, limit: limit, json: arguments.has(.json))
    }

    func run() throws(Failure) -> Exit {
        try subscribe()
        try notices?.subscribe()
        try subscribeToPeers()
        try session.handle.start()
        notices?.update()
        let wake = try session.handle.wait(until: deadline) { () throws(Failure) in
            notices?.update()
            if let problem { throw problem }
            if remaining.isEmpty { throw Failure(.notPaired, "no desktop is paired any more") }
            if received == count || signal != nil { return true }
            if subscription == nil { try subscribe() }
            return false
        }
        switch wake {
        case .signal(let signal): return try ended(by: signal)
        case .deadline:
            if let count {
                throw Failure(.offline, "only \(received) of \(count) pushes came in time\(session.problem)")
            }
        case .done:
            if let signal, received != count { return try ended(by: signal) }
            guard let failures = command?.failures, failures > 0 else { return .done }
            throw Failure(.failed, "the command failed for \(failures) of \(received) pushes")
        }
        return .done
    }

    private func ended(by signal: Int32) throws(Failure) -> Exit {
        guard count == nil else { throw .interrupted(signal) }
        return .stopped(by: signal)
    }

    // MARK: Pushes

    private func subscribe() throws(Failure) {
        subscription = try session.handle.subscribe(showsAll ? "*" : ListenRun.push) { [unowned self] name, event in
            name == ListenRun.push ? take(event) : show(name, event)
        }
    }

    private func take(_ event: JSONValue) {
        do throws(Failure) {
            if let filter, try !filter.matches(event, in: session) { return }
        } catch {
            return problem = error
        }
        received += 1
        // Inside the callback: the next push is then not handed over to us, and is there the next time. So also before
        // each command: what was done before it is marked as taken, whatever becomes of us while it runs.
        if received == count || command != nil { pause() }
        guard let command else { return show(ListenRun.push, event) }
        if json { Output.json(event) }
        let id = event["desktop"]?.string
        signal = command.run(event, desktop: desktops.first { $0.id == id }?.name ?? "")
    }

    private func pause() {
        guard let subscription else { return }
        self.subscription = nil
        do throws(Failure) { try session.handle.unsubscribe(subscription) } catch { problem = error }
    }

    private func show(_ name: String, _ event: JSONValue) {
        let data = event["data"] ?? .null
        if json {
            Output.json(event)
        } else if name == ListenRun.push {
            Output.line(NotificationLine.text(data))
        } else {
            Output.line("\(name)  \(Printable.line(data.serialized()))")
        }
    }

    // MARK: Pairings

    private func subscribeToPeers() throws(Failure) {
        try session.handle.subscribe("peers.changed") { [unowned self] _, event in
            let now = event["data"]?["desktops"]?.array?.compactMap { PairedPeer($0) } ?? []
            if !json {
                for gone in remaining where !now.contains(where: { $0.id == gone.id }) {
                    Output.notice("\(gone.name) is not paired any more")
                }
            }
            remaining = now
        }
    }
}
