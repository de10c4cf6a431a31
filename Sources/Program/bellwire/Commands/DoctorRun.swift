import CBellwire
import Glibc
import JSON
import SystemServices
import Transport

/// One run of `bellwire doctor`.
final class DoctorRun {
    /// What the roles of this machine know, for the checks.
    private struct Known {
        /// URLs of relays, each once.
        var relays: [String] = []
        /// The latest moment that is stored, in milliseconds since 1970.
        var latest: Int64?
        /// The port of the running desktop's own relay.
        var port: Int64?

        mutating func add(relay: String?) {
            if let relay, !relays.contains(relay) { relays.append(relay) }
        }

        mutating func add(moment: Int64?) { latest = [latest, moment].compactMap(\.self).max() }
    }

    /// What runs on the loop's thread, kept until it has ended.
    @EventLoop
    private final class Holder {
        var checks: [AnyObject] = []

        nonisolated init() {}
    }

    private let arguments: Arguments
    private let places: [StatePlace]
    private let limit: UInt64
    private let mail: LoopMail<[Finding]>
    private let holder = Holder()
    private var findings: [Finding] = []
    private var known = Known()

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        places = try StatePlace.all(arguments, of: "doctor")
        limit = UInt64(try arguments.milliseconds(Command.doctorTimeout, most: 60))
        mail = try LoopMail()
        if let url = arguments.text(Command.doctorRelayURL) {
            _ = try DoctorRun.parsed(url)
            known.add(relay: url)
        }
    }

    private static func parsed(_ url: String) throws(Failure) -> WebSocketURL {
        do throws(TransportError) { return try WebSocketURL(url) } catch {
            throw Failure(.usage, "--relay-url: \(error.message)")
        }
    }

    func run() throws(Failure) -> Exit {
        for place in places { check(place.role, in: place.directory) }
        findings.append(MachineChecks.clock(latest: known.latest))
        findings.append(MachineChecks.proxies())
        if places.contains(where: { $0.role == .desktop }) {
            let address = arguments.text(Command.doctorRelay) ?? Command.doctorRelay.initial ?? ""
            findings.append(MachineChecks.port(address, own: known.port))
        }
        try checkConnections()
        show()
        return findings.contains { $0.state == .fail } ? .failed : .done
    }

    private func show() {
        guard arguments.has(.json) else {
            for finding in findings { finding.show() }
            return
        }
        Output.json("checks", findings.map(\.json))
    }

    // MARK: The roles

    private func check(_ role: RoleStatus.Role, in directory: String) {
        let found = DirectoryCheck(role, in: directory).run()
        findings += found
        guard access("\(directory)/\(role.database)", F_OK) == 0, !found.contains(where: { $0.state == .fail }) else {
            return
        }
        let name = role.rawValue
        do throws(Failure) {
            let count =
                try ProgramLock.isOpen(directory) ? try ask(role, in: directory) : try read(role, in: directory)
            findings.append(.ok(name, "paired with \(count) \(role.peerKind)\(count == 1 ? "" : "s")"))
        } catch {
            findings.append(.fail(name, error.message, "bellwire status --\(name) shows more."))
        }
    }

    /// The program that has the role open.
    private func ask(_ role: RoleStatus.Role, in directory: String) throws(Failure) -> Int {
        let handle = try Handle(
            role.handle, options: ["state_dir": .string(directory), "yields": true], verbose: arguments.has(.verbose))
        let state = try result { role.state(handle.pointer, $0) }
        let peers = try result { role.peers(handle.pointer, $0) }.array ?? []
        for peer in peers {
            known.add(moment: peer["lastSeenAt"]?.integer)
            known.add(relay: peer["relayUrl"]?.string)
            known.add(relay: peer["signalingUrl"]?.string)
        }
        if role == .desktop {
            known.port = state["relay"]?["port"]?.integer
            for route in state["connection"]?.array ?? [] { known.add(relay: route["url"]?.string) }
        }
        return peers.count
    }

    /// Without a program it must not be opened: that would write to it.
    private func read(_ role: RoleStatus.Role, in directory: String) throws(Failure) -> Int {
        let stored = try StoredPeers(role, in: directory)
        known.add(moment: stored.latest)
        for url in stored.relays { known.add(relay: url) }
        return stored.count
    }

    // MARK: Connections

    /// All at once; each ends in its own time.
    private func checkConnections() throws(Failure) {
        let urls = known.relays.compactMap { try? WebSocketURL($0) }
        let caFile = arguments.text(.caFile)
        EventLoop.post { [mail, holder, limit] in
            let report: @EventLoop (Finding) -> Void = { mail.put([$0]) }
            holder.checks = [
                BusCheck(BusCheck.notifications, on: .session(), within: limit, then: report),
                BusCheck(BusCheck.avahi, on: .system(), within: limit, then: report),
            ]
            for url in urls {
                holder.checks.append(RelayCheck(url, caFile: caFile, within: limit) { mail.put($0) })
            }
        }
        // The checks have their own deadlines; this one is for a loop that hangs.
        let deadline = Clock.now &+ Int64(clamping: limit) &+ 2_000
        var waiting = urls.count + 2
        while waiting > 0 {
            let left = deadline &- Clock.now
            guard left > 0 else {
                findings.append(.fail("connections", "\(waiting) checks have not ended in time", "Run it again."))
                return
            }
            var entries = [Interrupt.descriptor, mail.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            _ = poll(&entries, 2, Int32(clamping: left))
            if let signal = Interrupt.take() { throw .interrupted(signal) }
            for found in mail.take() {
                waiting -= 1
                findings += found
            }
        }
    }
}
