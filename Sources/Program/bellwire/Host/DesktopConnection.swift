import CBellwire
import JSON
import Transport

/// The data of `connection.changed`.
struct Connection: Equatable {
    var isOnline = false
    /// A relay is connected, and the peer is not connected to it.
    var isAbsent = false
    /// What the first route that has trouble says.
    var problem: String?
    /// What the connection goes over, as a person may see it.
    var route: String?

    init() {}

    init(_ data: JSONValue) {
        isOnline = data["online"]?.bool ?? false
        let routes = data["routes"]?.array ?? []
        isAbsent = !isOnline && routes.contains { $0["state"] == "online" }
        problem = routes.lazy.compactMap { $0["problem"]?.string }.first
        guard isOnline else { return }
        route = routes.first { $0["state"] == "online" }?["url"]?.string.map(WebSocketURL.loggable)
    }

    /// What `bw_desktop_state()` says: of a desktop that another program runs nothing new may be told.
    init(desktop state: JSONValue) {
        let routes = state["connection"]?.array ?? []
        self.init(["online": .bool(routes.contains { $0["state"] == "online" }), "routes": .array(routes)])
    }
}

/// The connection to one desktop, followed from now on.
final class DesktopConnection {
    private let session: DeviceSession
    private let desktop: PairedPeer
    private var connection = Connection()

    /// Goes online.
    init(_ session: DeviceSession, to desktop: PairedPeer) throws(Failure) {
        self.session = session
        self.desktop = desktop
        try session.handle.subscribe("connection.changed") { [weak self] _, event in
            guard event["desktop"]?.string == desktop.id, let data = event["data"] else { return }
            self?.connection = Connection(data)
        }
        try session.handle.start()
        // Of a device that is started already nothing new may be told.
        let known = try result { bw_device_state(session.pointer, $0) }["connection"]?.array ?? []
        if let now = known.first(where: { $0["desktop"]?.string == desktop.id }) { connection = Connection(now) }
    }

    /// How long to look for a desktop before a notification goes into the queue, in milliseconds.
    private static let settleTime: Int64 = 5_000

    /// For what can wait in the queue: waits until the connection is up, or a relay says that the desktop isn't there.
    /// Neither in time is no failure.
    func settle(until deadline: Int64) throws(Failure) {
        let deadline = min(deadline, Clock.now &+ Self.settleTime)
        let wake = try session.handle.wait(until: deadline, waitingFor: Progress { [unowned self] in desktop.name }) {
            () throws(Failure) in connection.isOnline || connection.isAbsent
        }
        if case .signal(let signal) = wake { throw .interrupted(signal) }
    }

    /// Waits until it is up.
    func wait(until deadline: Int64) throws(Failure) {
        let progress = Progress { [unowned self] in
            desktop.name + (connection.problem.map { ": \($0)" } ?? "")
        }
        let wake = try session.handle.wait(until: deadline, waitingFor: progress) { () throws(Failure) in
            connection.isOnline
        }
        switch wake {
        case .done: return
        case .signal(let signal): throw .interrupted(signal)
        case .deadline:
            let reason = connection.problem.map { ": \($0)" } ?? ""
            throw Failure(.offline, "no connection to \(desktop.name) in time\(reason)")
        }
    }
}
