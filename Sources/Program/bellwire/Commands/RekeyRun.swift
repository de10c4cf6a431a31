import CBellwire
import JSON

/// One run of `bellwire rekey`.
final class RekeyRun {
    /// How long to wait for an answer to be sent, in milliseconds.
    private static let farewellTime: Int64 = 1_000
    /// How long to wait for a first session, in milliseconds.
    private static let sessionTime: Int64 = 10_000

    private let arguments: Arguments
    private let isDesktop: Bool
    private let json: Bool
    private let options: JSONValue
    private var handle: Handle
    private let progress: MoveProgress

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.exclude(
            [Command.rekeyStatus, Command.rekeyCancel, Command.rekeyAccept, Command.rekeyDecline], of: "rekey")
        self.arguments = arguments
        isDesktop = arguments.has(Command.rekeyDesktop)
        json = arguments.has(.json)
        progress = MoveProgress(json: json)
        if arguments.isWritten(Command.rekeyRelay), !isDesktop {
            throw Failure(.usage, "--relay-url requires --desktop; a device knows its relays")
        }
        // The new key is taken when the device or desktop is opened again, so no other program may have it open. All
        // else can be asked of the program that has it.
        let answers = [Command.rekeyStatus, Command.rekeyCancel, Command.rekeyAccept, Command.rekeyDecline]
        let isShared = answers.contains { arguments.has($0) }
        options = [
            "state_dir": arguments.text(Command.rekeyStateDirectory).map { .string($0) },
            "tls": arguments.text(.caFile).map { ["ca_file": .string($0)] },
            "shared": .bool(isShared), "yields": isShared ? true : nil,
            "relay_url": isDesktop ? arguments.text(Command.rekeyRelay).map { .string($0) } : nil,
        ]
        handle = try Handle(isDesktop ? .desktop : .device, options: options, verbose: arguments.has(.verbose))
    }

    func run() throws(Failure) -> Exit {
        if arguments.has(Command.rekeyStatus) {
            show(try status())
        } else if arguments.has(Command.rekeyCancel) {
            try check(isDesktop ? bw_desktop_rekey_cancel(handle.pointer) : bw_device_rekey_cancel(handle.pointer))
            if json { Output.json(try status()) } else { Output.line("Cancelled. The key stays as it was.") }
        } else if let peer = arguments.text(Command.rekeyAccept) {
            try answer(peer, true)
        } else if let peer = arguments.text(Command.rekeyDecline) {
            try answer(peer, false)
        } else {
            try move()
        }
        return .done
    }

    private func status() throws(Failure) -> JSONValue {
        try result {
            isDesktop ? bw_desktop_rekey_status(handle.pointer, $0) : bw_device_rekey_status(handle.pointer, $0)
        }
    }

    // MARK: The own move

    private func move() throws(Failure) {
        let deadline = Clock.now &+ Int64(try arguments.milliseconds(Command.rekeyTimeout))
        defer { progress.clear() }
        if try status()["state"] != "switched" {
            let begun = try begin(until: min(deadline, Clock.now &+ RekeyRun.sessionTime))
            let new = begun["newId"]?.string ?? ""
            if !json { Output.line("The new id is \(Printable.line(new)). Accept it on every paired machine.") }
            try wait(until: deadline, for: "the other machines' users") { $0 == "ready" }
            // The next start takes the new key.
            try handle.close()
            handle = try Handle(isDesktop ? .desktop : .device, options: options, verbose: arguments.has(.verbose))
            if !json { Output.line("The new key is in use.") }
        }
        try wait(until: deadline, for: "the other machines") { $0 == "none" }
        if json { Output.json(try status()) } else { Output.line("Every paired machine knows it.") }
    }

    /// A pairing that was just made may have no session yet: it comes with the connection.
    private func begin(until deadline: Int64) throws(Failure) -> JSONValue {
        try handle.start()
        while true {
            do throws(Failure) {
                return try result {
                    isDesktop ? bw_desktop_rekey(handle.pointer, $0) : bw_device_rekey(handle.pointer, $0)
                }
            } catch {
                guard error.error?["detail"]?["reason"] == "no_sessions", Clock.now < deadline else { throw error }
            }
            if case .signal(let signal) = try handle.wait(until: Clock.now &+ 250) { throw .interrupted(signal) }
        }
    }

    /// Waits until the state is that.
    private func wait(
        until deadline: Int64, for whom: String, isDone: (String) -> Bool
    ) throws(Failure) {
        if try hasReached(isDone) { return }
        try handle.start()
        while try !hasReached(isDone) {
            let next = min(deadline, Clock.now &+ 250)
            if case .signal(let signal) = try handle.wait(until: next) { throw .interrupted(signal) }
            guard Clock.now < deadline else {
                let open = try status()["peers"]?.array ?? []
                let names = open.filter { $0["state"] != "approved" || whom == "the other machines" }.map {
                    Printable.line("\($0["name"]?.string ?? "") (\($0["state"]?.string ?? ""))")
                }
                throw Failure(
                    .offline, "still waiting for \(names.joined(separator: ", ")); run bellwire rekey again later")
            }
        }
    }

    /// Reports what is new, too.
    private func hasReached(_ isDone: (String) -> Bool) throws(Failure) -> Bool {
        let status = try status()
        progress.update(status)
        guard isDone(status["state"]?.string ?? "") else { return false }
        progress.clear()
        return true
    }

    // MARK: Peers that move

    private func answer(_ wanted: String, _ accept: Bool) throws(Failure) {
        let question = try KeyQuestion.find(wanted, in: try status(), kind: isDesktop ? "device" : "desktop")
        let peer = question.peer
        // The answer goes out in a session, if the peer is there; else when it asks again.
        try handle.subscribe("connection.changed") { _, _ in }
        if !isDesktop || arguments.has(Command.rekeyRelay) { try handle.start() }
        try check(
            isDesktop
                ? bw_desktop_rekey_confirm(handle.pointer, peer.id, question.newID, accept ? 1 : 0)
                : bw_device_rekey_confirm(handle.pointer, peer.id, question.newID, accept ? 1 : 0))
        _ = try handle.wait(until: Clock.now &+ RekeyRun.farewellTime)
        if json { return Output.json(peer.json) }
        Output.line(question.answered(accept))
    }

    // MARK: Showing

    private func show(_ status: JSONValue) {
        if json { return Output.json(status) }
        func text(_ value: JSONValue?, _ member: String) -> String { Printable.line(value?[member]?.string ?? "") }
        switch status["state"]?.string {
        case "asking": Output.line("Moving to \(text(status, "newId")): not all have accepted.")
        case "ready": Output.line("Moving to \(text(status, "newId")): all have accepted; used from the next start.")
        case "switched": Output.line("Moved to \(text(status, "newId")): some peers do not know it yet.")
        default: Output.line("The id is \(text(status, "id")).")
        }
        for peer in status["peers"]?.array ?? [] {
            Output.line("  \(text(peer, "name"))  \(text(peer, "state"))  \(text(peer, "id"))")
        }
        for question in status["questions"]?.array ?? [] {
            Output.line("\(text(question, "name")) asks to move to \(text(question, "newId")).")
        }
    }
}
