import Wire

/// Tracks which push tokens each encrypted desktop has, and which to send (WireSealing, "Push tokens"). The program
/// sets its tokens after each opening. Tokens of earlier runs are not known here, so they are never sent. The store
/// remembers a revoked token until the desktops know it. These frames have no answer: one counts as received if it was
/// written, its connection stayed up for ``settlingTime``, and no relay reported the desktop offline.
///
/// Times are the loop's milliseconds.
struct PushTokensStateMachine: Sendable {
    /// Services of a device, at most.
    static let serviceLimit = 16
    static let settlingTime: UInt64 = 2_000

    /// The desktop is to hear that there is no token of that service any more.
    struct Removal: Sendable, Equatable {
        let desktop: PeerID
        let service: PushService
    }

    private struct Said {
        let desktop: PeerID
        let statement: PushTokenStatement
        let at: UInt64
        /// The routes that carried it and have not disowned it since.
        var routes: [RouteID]
        /// A removal of which the store has been told.
        var isSettled = false

        func isOf(_ desktop: PeerID, _ service: PushService) -> Bool {
            self.desktop == desktop && statement.service == service
        }
    }

    /// At most one for each service.
    private var tokens: [PushTokenStatement] = []
    private var removals: [Removal]
    /// At most one for each desktop and service.
    private var said: [Said] = []

    /// With the removals that earlier runs did not get to say.
    init(removals: [Removal] = []) { self.removals = removals }

    // MARK: The host

    /// The host has given a token, and the store has forgotten the removals of that service.
    mutating func gave(_ token: PushToken, for service: PushService) {
        tokens.removeAll { $0.service == service }
        tokens.append(PushTokenStatement(service, token))
        removals.removeAll { $0.service == service }
    }

    /// The host has taken tokens back, and the store has these removals.
    mutating func tookBack(_ removed: [Removal], of services: [PushService]) {
        tokens.removeAll { services.contains($0.service) }
        for removal in removed where !removals.contains(removal) { removals.append(removal) }
    }

    /// The device starts: every desktop hears everything once more.
    mutating func started() { said = [] }

    // MARK: The desktops

    /// What a desktop has still to hear, in the order of the services.
    func due(for desktop: PeerID) -> [PushTokenStatement] {
        let removed = removals.filter { $0.desktop == desktop }.map { PushTokenStatement($0.service, nil) }
        return (tokens + removed)
            .filter { statement in !said.contains { $0.desktop == desktop && $0.statement == statement } }
            .sorted { $0.service.text < $1.service.text }
    }

    /// It was written to the desktop over these connections.
    mutating func wrote(_ statement: PushTokenStatement, to desktop: PeerID, over routes: [RouteID], now: UInt64) {
        guard !routes.isEmpty else { return }
        said.removeAll { $0.isOf(desktop, statement.service) }
        said.append(Said(desktop: desktop, statement: statement, at: now, routes: routes))
    }

    /// The desktop is not at this relay, so frames sent through it may be lost. The relay does not say which frame it
    /// means.
    mutating func wasCalledAbsent(_ desktop: PeerID, over route: RouteID) {
        disown(route) { $0.desktop == desktop }
    }

    /// A connection has ended: what was written just before may be lost.
    mutating func disconnected(_ route: RouteID, now: UInt64) {
        disown(route) { now < $0.at &+ Self.settlingTime }
    }

    /// A relay says that the desktop has come, and nothing was heard of it since `heardAt`: what was written after that
    /// went to a connection that was dead. Not so what was written just now, for a relay tells of those who are there
    /// when we come.
    mutating func cameAnew(_ desktop: PeerID, heardAt: UInt64, now: UInt64) {
        said.removeAll { $0.desktop == desktop && $0.at >= heardAt && $0.at &+ Self.settlingTime <= now }
    }

    private mutating func disown(_ route: RouteID, where isLost: (Said) -> Bool) {
        for index in said.indices where said[index].routes.contains(route) && isLost(said[index]) {
            said[index].routes.removeAll { $0 == route }
        }
        said.removeAll(where: \.routes.isEmpty)
    }

    /// It was paired, maybe anew: it knows nothing.
    mutating func paired(_ desktop: PeerID) { said.removeAll { $0.desktop == desktop } }

    /// It is not paired any more, and the store has forgotten its removals.
    mutating func forget(_ desktop: PeerID) {
        said.removeAll { $0.desktop == desktop }
        removals.removeAll { $0.desktop == desktop }
    }

    // MARK: Time

    /// When the next removal counts as heard.
    var nextDeadline: UInt64? {
        said.lazy.filter { $0.statement.token == nil && !$0.isSettled }.map { $0.at &+ Self.settlingTime }.min()
    }

    /// Gives the removals that count as heard now, each once: for the store to forget.
    mutating func settle(now: UInt64) -> [Removal] {
        var settled: [Removal] = []
        for index in said.indices where said[index].statement.token == nil && !said[index].isSettled {
            guard said[index].at &+ Self.settlingTime <= now else { continue }
            said[index].isSettled = true
            settled.append(Removal(desktop: said[index].desktop, service: said[index].statement.service))
        }
        return settled
    }

    /// The store has forgotten it. A removal that has become due again in the meantime stays.
    mutating func forgot(_ removal: Removal) {
        guard let index = said.firstIndex(where: { $0.isOf(removal.desktop, removal.service) }),
            said[index].statement.token == nil, said[index].isSettled
        else { return }
        said.remove(at: index)
        removals.removeAll { $0 == removal }
    }
}
