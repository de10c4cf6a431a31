import CBellwire
import Glibc
import Hosting
import JSON
import Transport

/// The state of this machine's device or desktop, for `bellwire status`.
///
/// It is asked for through the program that holds the role, or read from its files; nothing goes online for it.
struct RoleStatus {
    enum Role: String, CaseIterable {
        case device, desktop

        /// What this role's peers are.
        var peerKind: String { self == .device ? "desktop" : "device" }
        var handle: Handle.Role { self == .device ? .device : .desktop }
        fileprivate var program: ProgramLock.Program { self == .device ? .agent : .desktop }
        var database: String { self == .device ? "device.db" : "desktop.db" }

        func state(
            _ pointer: OpaquePointer?, _ text: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
        ) -> bw_status {
            self == .device ? bw_device_state(pointer, text) : bw_desktop_state(pointer, text)
        }

        func peers(
            _ pointer: OpaquePointer?, _ text: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
        ) -> bw_status {
            self == .device ? bw_pairing_list(pointer, text) : bw_desktop_devices(pointer, text)
        }
    }

    /// Something that is wrong, and what to do about it.
    struct Problem: Equatable {
        let message: String
        let advice: String

        func json(of role: Role) -> JSONValue {
            ["role": .string(role.rawValue), "message": .string(message), "advice": .string(advice)]
        }
    }

    struct Line: Equatable {
        let name: String
        let text: String
    }

    let role: Role
    private(set) var title: String
    private(set) var lines: [Line] = []
    private(set) var problems: [Problem] = []
    /// `null` if this machine has no such role.
    private(set) var json: JSONValue = .null

    init(_ role: Role, in directory: String, verbose: Bool) throws(Failure) {
        self.role = role
        title = "\(role.rawValue): none on this machine"
        guard access("\(directory)/\(role.database)", F_OK) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw Failure(.failed, "cannot read \(directory): \(Failure.systemError)")
            }
            return
        }
        lines.append(Line(name: "directory", text: Printable.line(Word.shown(directory))))
        do throws(Failure) {
            let options: JSONValue = ["state_dir": .string(directory), "yields": true]
            let handle = try Handle(role.handle, options: options, verbose: verbose)
            let state = try result { role.state(handle.pointer, $0) }
            let peers = try result { role.peers(handle.pointer, $0) }.array?.compactMap { PairedPeer($0) } ?? []
            let program = try ProgramLock.holder(role.program, in: directory)
            let alerts = role == .device ? try AlertPermission.now(handle) : nil
            read(state, peers, program: program, alerts: alerts, directory)
        } catch {
            guard error.exit == .inUse else { throw error }
            title = "\(role.rawValue): in use"
            json = ["directory": .string(directory), "error": error.error ?? .string(error.message)]
            problems.append(
                Problem(message: error.message, advice: "Open it with \"shared\": true in that program, or end it."))
        }
    }

    private mutating func read(
        _ state: JSONValue, _ peers: [PairedPeer], program: pid_t?, alerts: String?, _ directory: String
    ) {
        let name = Printable.line(state["name"]?.string ?? "")
        title = "\(role.rawValue) \"\(name)\""
        let isRunning = state["started"]?.bool ?? false
        lines.append(Line(name: "id", text: Printable.line(state["id"]?.string ?? "")))
        lines.append(Line(name: "running", text: running(state, isRunning)))
        var object: JSONObject = [
            "directory": .string(directory), "id": state["id"] ?? .null, "name": state["name"] ?? .null,
            "running": .bool(isRunning), "holder": isRunning ? state["sharing"]?["holder"] ?? .null : .null,
            "unread": state["unread"] ?? .null, "connection": state["connection"] ?? [], "notes": state["notes"] ?? [],
        ]
        object["\(role.peerKind)s"] = .array(peers.map { isRunning ? $0.json : $0.unconnected })
        switch role {
        case .device:
            object["queue"] = state["queue"]
            object["alerts"] = alerts.map { .string($0) }
            object["agent"] = program.map { .integer(Int64($0)) } ?? .null
            readDevice(state, peers, isRunning: isRunning, agent: program, alerts: alerts)
        case .desktop:
            object["relay"] = state["relay"]
            readDesktop(state, peers, isRunning: isRunning)
        }
        for note in state["notes"]?.array ?? [] {
            lines.append(Line(name: "note", text: Printable.line(note.string ?? "")))
        }
        for notice in peers.flatMap({ [$0.unconfirmedNotice, $0.sealNotice, $0.forgeryNotice] }).compactMap(\.self) {
            problems.append(
                Problem(
                    message: notice, advice: "bellwire peers\(role == .desktop ? " --desktop" : "") lists the pairings."
                ))
        }
        json = .object(object)
    }

    private func running(_ state: JSONValue, _ isRunning: Bool) -> String {
        guard isRunning else { return "no" }
        let holder = state["sharing"]?["holder"]
        let application = Printable.line(holder?["application"]?.string ?? "")
        guard let process = holder?["process"]?.integer else { return "yes" }
        return application.isEmpty ? "yes (process \(process))" : "yes, in \(application) (process \(process))"
    }

    // MARK: The device

    private mutating func readDevice(
        _ state: JSONValue, _ peers: [PairedPeer], isRunning: Bool, agent: pid_t?, alerts: String?
    ) {
        lines.append(Line(name: "agent", text: agent.map { "running (process \($0))" } ?? "not running"))
        lines.append(Line(name: "alerts", text: alerts ?? "unknown"))
        lines.append(Line(name: "unread", text: String(state["unread"]?.integer ?? 0)))
        let waiting = (state["queue"]?["pending"]?.integer ?? 0) &+ (state["queue"]?["sending"]?.integer ?? 0)
        let failed = state["queue"]?["failed"]?.integer ?? 0
        lines.append(
            Line(name: "queue", text: failed == 0 ? "\(waiting) waiting" : "\(waiting) waiting, \(failed) failed"))
        let connections = state["connection"]?.array ?? []
        for peer in peers {
            let connection = connections.first { $0["desktop"]?.string == peer.id }
            add(peer, routes: connection?["routes"]?.array ?? [], isRunning: isRunning)
        }
        if peers.isEmpty {
            problems.append(
                Problem(
                    message: "No desktop is paired.",
                    advice: "Show a code with bellwire desktop; scan it with bellwire pair."))
        } else if !isRunning {
            problems.append(
                Problem(
                    message: "No program is connected, so pushes wait at the desktop.",
                    advice: "Start bellwire agent for alerts, or bellwire listen."))
        }
        switch alerts {
        case AlertPermission.denied.rawValue:
            problems.append(
                Problem(
                    message: "Alerts are not allowed.", advice: "bellwire settings --device alerts=allowed allows them."
                ))
        case AlertPermission.ask.rawValue where agent != nil:
            problems.append(
                Problem(
                    message: "The agent's question whether alerts may be shown is not answered.",
                    advice: "Answer it on the screen, or run bellwire settings --device alerts=allowed."))
        default: break
        }
        if failed > 0 {
            problems.append(
                Problem(
                    message: "\(failed) queued changes have failed.",
                    advice: "bellwire queue shows why; bellwire queue retry or clear settles them."))
        }
    }

    private mutating func add(_ peer: PairedPeer, routes: [JSONValue], isRunning: Bool) {
        let online = routes.first { $0["state"]?.string == "online" }.flatMap { $0["url"]?.string }
            .map(WebSocketURL.loggable)
        let problem = routes.lazy.compactMap { $0["problem"]?.string }.first
        let text: String
        if !isRunning {
            text = "not connected"
        } else if peer.json["online"]?.bool == true, let online {
            text = "online over \(online)"
        } else if let online {
            text = "offline; the relay \(online) is connected"
        } else {
            text = problem.map { "no relay: \($0)" } ?? "no relay"
            problems.append(
                Problem(
                    message: "No relay of \(peer.name) can be reached\(problem.map { ": \($0)" } ?? ".")",
                    advice:
                        "Check that the desktop's relay runs and that its address is right; pair again if it has moved."
                ))
        }
        lines.append(Line(name: role.peerKind, text: Printable.line("\(peer.title): \(text)")))
    }

    // MARK: The desktop

    private mutating func readDesktop(_ state: JSONValue, _ peers: [PairedPeer], isRunning: Bool) {
        let routes = state["connection"]?.array ?? []
        for route in routes where isRunning {
            let url = WebSocketURL.loggable(route["url"]?.string ?? "")
            let problem = route["problem"]?.string
            let text = "\(url): \(route["state"]?.string ?? "")" + (problem.map { " (\($0))" } ?? "")
            lines.append(Line(name: "relay", text: Printable.line(text)))
            guard route["state"]?.string != "online" else { continue }
            problems.append(
                Problem(
                    message: "The relay \(url) is not connected\(problem.map { ": \($0)" } ?? ".")",
                    advice: "Check its address (--relay-url) and that it runs."))
        }
        lines.append(Line(name: "unread", text: String(state["unread"]?.integer ?? 0)))
        for peer in peers {
            let seen = Clock.text(ofEpochMilliseconds: peer.json["lastSeenAt"]?.integer ?? 0)
            lines.append(Line(name: role.peerKind, text: Printable.line("\(peer.title): last seen \(seen)")))
        }
        if !isRunning {
            problems.append(Problem(message: "The desktop does not run.", advice: "Start bellwire desktop."))
        }
        if peers.isEmpty {
            problems.append(Problem(message: "No device is paired.", advice: "bellwire desktop pair shows a code."))
        }
    }
}
