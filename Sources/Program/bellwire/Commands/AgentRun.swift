import CBellwire
import Glibc
import JSON

/// One run of `bellwire agent`: it holds the device, or is a guest of the program that shows alerts itself.
final class AgentRun {
    /// Between two tries to open a device that another program has for itself, in milliseconds.
    private static let interval: Int64 = 2_000
    /// The setting `burstLimit` until the user changes it.
    static let burstLimit: Int64 = 5

    private let handle: Handle
    private let lock: ProgramLock
    private let allows: Bool
    private let burstLimit: Int64?
    /// When to ask for permission; `nil` = not at the moment.
    private var asksAt: Int64? = Clock.now
    /// The person has answered, or is being asked.
    private var hasAsked = false

    private init(_ arguments: Arguments) throws(Failure) {
        allows = arguments.has(Command.agentAllow)
        burstLimit =
            try arguments.has(Command.agentBurst)
            ? arguments.integer(Command.agentBurst, in: 0...100).map { Int64($0) } : nil
        Interrupt.reportHangups()
        let written = arguments.text(.deviceStateDirectory)
        let directory = if let written { written } else { try EnvironmentPath.stateDirectory(of: "device") }
        if directory == ":memory:" { throw Failure(.usage, "an agent needs a directory; :memory: has no pairings") }
        let options: JSONValue = [
            "state_dir": arguments.text(.deviceStateDirectory).map { .string($0) },
            "tls": arguments.text(.caFile).map { ["ca_file": .string($0)] },
            "alerts": "system", "late_alerts": .string(arguments.text(Command.agentLate) ?? "summary"), "yields": true,
            "application_name": "Bellwire", "burst_limit": .integer(AgentRun.burstLimit), "opens_links": true,
        ]
        lock = try ProgramLock(.agent, in: directory)
        handle = try AgentRun.open(options, verbose: arguments.has(.verbose))
    }

    static func run(_ arguments: Arguments) throws(Failure) -> Exit {
        do throws(Failure) { return try AgentRun(arguments).run() } catch {
            // It was stopped while it waited for the device.
            guard case .interrupted(let signal) = error.exit else { throw error }
            return .stopped(by: signal)
        }
    }

    /// Waits for a program that does not share the device.
    private static func open(_ options: JSONValue, verbose: Bool) throws(Failure) -> Handle {
        while true {
            do throws(Failure) { return try Handle(.device, options: options, verbose: verbose) } catch {
                guard error.exit == .inUse else { throw error }
            }
            var entry = pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&entry, 1, Int32(interval))
            if let signal = Interrupt.take() { throw .interrupted(signal) }
        }
    }

    private func run() throws(Failure) -> Exit {
        let desktops = try result { bw_pairing_list(handle.pointer, $0) }.array ?? []
        guard !desktops.isEmpty else { throw Failure(.notPaired, "no desktop is paired yet; run bellwire pair") }
        try handle.subscribe("problem") { _, event in
            Output.notice(LibraryWords.text(event["data"]?["message"]?.string ?? "unknown problem"))
        }
        try KeyQuestion.follow(handle)
        // A holder tells it of its connections, also one that has just become it.
        try handle.subscribe("connection.changed") { [unowned self] _, _ in
            if asksAt == nil, !hasAsked { asksAt = Clock.now }
        }
        // Also sent at the start.
        try handle.subscribe("authorization.changed") { _, event in
            guard event["data"]?["status"]?.string == "denied" else { return }
            Output.notice("alerts are not allowed; to allow them, run: bellwire settings --device alerts=allowed")
        }
        if let burstLimit {
            let setting: JSONValue = ["burstLimit": .integer(burstLimit)]
            try change { () throws(Failure) in
                try check(bw_alerts_set_settings(handle.pointer, setting.serialized(), nil))
            }
        }
        if allows {
            try change { () throws(Failure) in try AlertPermission.allowed.set(handle) }
            asksAt = nil
            hasAsked = true
        }
        try handle.start()
        while true {
            switch try handle.wait(orAt: .init { [unowned self] in asksAt }) {
            case .signal(let signal): return .stopped(by: signal)
            case .done, .deadline: try ask()
            }
        }
    }

    /// Does it again if the program ends meanwhile that has the device. Doing it twice does no harm.
    private func change(_ work: () throws(Failure) -> Void) throws(Failure) {
        while true {
            do throws(Failure) { return try work() } catch {
                guard error.error?["detail"]?["reason"]?.string == "holder_ended" else { throw error }
            }
        }
    }

    /// Asks for permission, once. The answer counts whenever it comes.
    private func ask() throws(Failure) {
        asksAt = nil
        // Another program that shows alerts asks itself.
        let state = try result { bw_device_state(handle.pointer, $0) }
        guard state["sharing"]?["part"]?.string != "guest" else { return }
        hasAsked = true
        try handle.begin { completion, userData, destroy in
            bw_alerts_request_async(handle.pointer, nil, 600_000, completion, userData, destroy)
        } then: { [unowned self] result in
            guard case .failure(let failure) = result else { return }
            switch failure.error?["status"]?.string {
            case "BW_E_UNSUPPORTED":
                Output.notice(
                    "the notification server can't ask you for permission; to allow alerts, run: "
                        + "bellwire settings --device alerts=allowed")
            // Another program has become the holder meanwhile. Or there is no notification server: then the library asks
            // when there is one.
            case "BW_E_OFFLINE": hasAsked = false
            default: break
            }
        }
    }
}
