/// Decides which server shows banners, and when that is known.
///
/// GNOME's own interface if the program has a name by which it can be started and the server knows the program;
/// otherwise the specification's. Each change of the choice is reported once.
struct BannerRouteStateMachine: Sendable {
    enum Route: Sendable, Equatable {
        /// Nobody shows banners now.
        case none(BusError)
        /// It is not yet known.
        case undecided
        case freedesktop(owner: String, NotificationServer)
        case gtk(owner: String)
    }

    enum Action: Sendable, Equatable {
        /// Ask the owner what it is and can; the answer carries the round.
        case ask(owner: String, round: Int)
        /// Ask again, in a while, a server that does not answer.
        case askLater
        /// Have the bus start a server, if it knows how to.
        case startServer
        case ready(name: String, capabilities: [String])
        case gone(BusError)
    }

    private enum Freedesktop: Sendable {
        case unknown
        case absent(BusError)
        case asked(owner: String)
        /// It has not said what it can do.
        case mute(owner: String, BusError)
        case ready(owner: String, NotificationServer)
    }

    private enum GTK: Sendable {
        /// Without a name of the program's.
        case unused
        case unknown
        case absent
        case present(owner: String)
        /// It does not know the program.
        case refused
    }

    private enum Told: Sendable, Equatable {
        case nothing
        case ready(Route)
        case gone(BusError)
    }

    private var freedesktop = Freedesktop.unknown
    private var gtk: GTK
    private var told = Told.nothing
    /// Counts the servers, so that answers of earlier ones are known as such.
    private(set) var round = 0
    private var hasTriedToStart = false

    /// `usesGTK`: whether the program has a name.
    init(usesGTK: Bool) { gtk = usesGTK ? .unknown : .unused }

    var route: Route {
        switch gtk {
        case .unknown:
            // Without a bus there is nothing to wait for.
            if case .absent(let error) = freedesktop, error.code != .absent { return .none(error) }
            return .undecided
        case .present(let owner): return .gtk(owner: owner)
        case .unused, .absent, .refused: break
        }
        switch freedesktop {
        case .unknown, .asked: return .undecided
        case .absent(let error), .mute(_, let error): return .none(error)
        case .ready(let owner, let server): return .freedesktop(owner: owner, server)
        }
    }

    /// The server of the specification's interface, also while banners go to the other one: it may still show older ones.
    var server: (owner: String, server: NotificationServer)? {
        if case .ready(let owner, let server) = freedesktop { (owner, server) } else { nil }
    }

    // MARK: The specification's server

    mutating func appeared(owner: String) -> [Action] {
        round &+= 1
        freedesktop = .asked(owner: owner)
        return [.ask(owner: owner, round: round)] + tell()
    }

    mutating func gone(_ error: BusError) -> [Action] {
        round &+= 1
        freedesktop = .absent(error)
        // Another bus, another chance.
        if error.code != .absent { hasTriedToStart = false }
        return tell()
    }

    mutating func answered(round: Int, _ server: NotificationServer) -> [Action] {
        guard round == self.round, case .asked(let owner) = freedesktop else { return [] }
        freedesktop = .ready(owner: owner, server)
        return tell()
    }

    mutating func notAnswered(round: Int, _ error: BusError) -> [Action] {
        guard round == self.round, case .asked(let owner) = freedesktop else { return [] }
        freedesktop = .mute(owner: owner, error)
        return tell() + [.askLater]
    }

    /// The while is over.
    mutating func askAgain() -> [Action] {
        guard case .mute(let owner, _) = freedesktop else { return [] }
        return appeared(owner: owner)
    }

    /// A banner is to be shown, and nobody is there.
    mutating func wanted() -> [Action] {
        guard case .none(let error) = route, error.code == .absent else { return [] }
        hasTriedToStart = true
        return [.startServer]
    }

    // MARK: GNOME's

    mutating func gtkAppeared(owner: String) -> [Action] {
        gtk = .present(owner: owner)
        return tell()
    }

    mutating func gtkGone(_ error: BusError) -> [Action] {
        switch error.code {
        // Whether it is on the bus shows when there is one.
        case .disconnected, .unavailable, .noAddress, .closed: gtk = .unknown
        default: gtk = .absent
        }
        return tell()
    }

    mutating func gtkRefused(owner: String) -> [Action] {
        guard case .present(owner) = gtk else { return [] }
        gtk = .refused
        return tell()
    }

    // MARK: Telling

    private mutating func tell() -> [Action] {
        switch route {
        case .undecided:
            // The last report no longer holds: the next server is reported again, even if it equals the previous one.
            if case .ready = told { told = .nothing }
            return []
        case .none(let error):
            var actions: [Action] = []
            if told != .gone(error) {
                told = .gone(error)
                actions.append(.gone(error))
            }
            if error.code == .absent, !hasTriedToStart {
                hasTriedToStart = true
                actions.append(.startServer)
            }
            return actions
        case .freedesktop(_, let server):
            return ready(server.name, server.capabilities)
        case .gtk:
            return ready(GTKBannerRequest.name, GTKBannerRequest.capabilities)
        }
    }

    private mutating func ready(_ name: String, _ capabilities: [String]) -> [Action] {
        let new = Told.ready(route)
        guard told != new else { return [] }
        told = new
        return [.ready(name: name, capabilities: capabilities)]
    }
}
