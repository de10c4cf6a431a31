import CBellwire
import Glibc
import JSON

/// One run of `bellwire agent`.
final class AgentRun {
    private enum Wake {
        case wanted
        case signal(Int32)
    }

    /// After another program has gone, the next one of a script may come at once. In milliseconds.
    private static let pause: Int64 = 1_000
    /// How often to look whether the directory is free, should an event be lost. In milliseconds.
    private static let interval: Int64 = 5_000

    private let arguments: Arguments
    private let directory: String
    // Both are `nil` before the first open has made the directory.
    private var watch: LockWatch?
    private var lock: AgentLock?

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        directory = arguments.text(.deviceStateDirectory) ?? AgentRun.standardDirectory
        if directory == ":memory:" { throw Failure(.usage, "an agent needs a directory; :memory: has no pairings") }
    }

    func run() throws(Failure) -> Exit {
        // Before the first open, which would make another agent step aside.
        lock = try AgentLock(in: directory)
        while true {
            if let handle = try open() {
                guard case .wanted = try serve(handle) else { return .done }
            }
            if try waitUntilFree() != nil { return .done }
        }
    }

    // MARK: Serving

    /// `nil` = another program has the directory.
    private func open() throws(Failure) -> Handle? {
        let options: JSONValue = [
            "state_dir": arguments.text(.deviceStateDirectory).map { .string($0) },
            "tls": arguments.text(.caFile).map { ["ca_file": .string($0)] },
            "alerts": "system", "late_alerts": .string(arguments.text(Command.agentLate) ?? "summary"), "yields": true,
        ]
        do throws(Failure) {
            let handle = try Handle(.device, options: options, verbose: arguments.has(.verbose))
            try begin(handle)
            return handle
        } catch {
            guard error.exit == .inUse, lock != nil else { throw error }
            return nil
        }
    }

    private func begin(_ handle: Handle) throws(Failure) {
        let desktops = try result { bw_pairing_list(handle.pointer, $0) }.array ?? []
        guard !desktops.isEmpty else { throw Failure(.notPaired, "no desktop is paired yet; run bellwire pair") }
        if lock == nil { lock = try AgentLock(in: directory) }
        if watch == nil { watch = try LockWatch(directory + "/lock") }
        try handle.subscribe("problem") { _, event in
            Output.notice(event["data"]?["message"]?.string ?? "unknown problem")
        }
        try handle.start()
        // The user's answer counts whenever it comes.
        try handle.begin { completion, userData, destroy in
            bw_alerts_request_async(handle.pointer, nil, 600_000, completion, userData, destroy)
        } then: { result in
            guard case .failure(let failure) = result else { return }
            let status = failure.error?["status"]?.string
            if status == "BW_E_DENIED" || status == "BW_E_UNSUPPORTED" { Output.notice(failure.message) }
        }
    }

    /// Until somebody wants the directory, or this program is to end.
    private func serve(_ handle: Handle) throws(Failure) -> Wake {
        // What came before is our own open; who waits opens the file again and again.
        _ = watch?.take()
        let wake = try handle.wait(alsoFor: watch.map { [$0.descriptor] } ?? []) { () throws(Failure) in
            watch?.take().contains(.opened) ?? false
        }
        try handle.close()
        if case .signal(let signal) = wake { return .signal(signal) }
        return .wanted
    }

    // MARK: Stepping aside

    /// - Returns: the signal that ended the wait.
    private func waitUntilFree() throws(Failure) -> Int32? {
        var quietAt = Clock.now &+ AgentRun.pause
        while true {
            if Clock.now >= quietAt {
                if LockWatch.isFree(directory + "/lock") { return nil }
                quietAt = Clock.now &+ AgentRun.interval
            }
            var entries = [Interrupt.descriptor, watch?.descriptor ?? -1].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            _ = poll(&entries, 2, Int32(clamping: max(0, quietAt &- Clock.now)))
            if let signal = Interrupt.take() { return signal }
            if watch?.take().contains(.closed) ?? false { quietAt = Clock.now &+ AgentRun.pause }
        }
    }

    /// As in bellwire.h, bw_device_open().
    private static var standardDirectory: String {
        func variable(_ name: String) -> String? {
            guard let value = getenv(name).map({ String(cString: $0) }), value.hasPrefix("/") else { return nil }
            return value
        }
        return (variable("XDG_STATE_HOME") ?? (variable("HOME") ?? "") + "/.local/state") + "/bellwire/device"
    }
}
