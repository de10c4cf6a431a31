/// Collects the relays that Avahi reports on each interface and protocol.
///
/// One name is one relay. The best address to reach it is reported, and later a better or a different one. When Avahi
/// stops, all are withdrawn.
struct BrowseStateMachine: Sendable {
    /// Sightings that are followed: a relay has one for each interface and protocol. More are counted and left alone.
    static let maximumSightings = 64
    /// How often one sighting is asked for.
    static let maximumAttempts = 3

    /// A service on one interface, by one protocol.
    struct Sighting: Hashable, Sendable {
        var interface: Int32
        var family: Int32
        var name: String
        var domain: String

        var service: Service { Service(name: name, domain: domain) }
    }

    struct Service: Hashable, Sendable {
        var name: String
        var domain: String
    }

    enum Action: Equatable, Sendable {
        case createBrowser
        case freeBrowser(path: String)
        case resolve(Sighting)
        /// A relay, or another way to a relay of this name.
        case found(DiscoveredRelay)
        case lost(DiscoveredRelay)
    }

    private enum Browser: Equatable {
        case none
        /// Signals that come before the browser's path is known are its own: Avahi sends each browser's to its client.
        case creating(early: [Early])
        case browsing(path: String)
    }

    private enum Early: Equatable {
        case added(Sighting)
        case removed(Sighting)
    }

    private enum Answer: Equatable {
        /// `before`: results that a refresh requests again stay valid until then.
        case waiting(attempt: Int, before: ResolvedService?)
        case resolved(ResolvedService)
        case failed

        var service: ResolvedService? {
            switch self {
            case .waiting(_, let before): before
            case .resolved(let service): service
            case .failed: nil
            }
        }
    }

    private var browser = Browser.none
    private var sightings: [Sighting: Answer] = [:]
    /// Sightings from before a refresh, which has not come upon them yet.
    private var stale: Set<Sighting> = []
    private var told: [Service: DiscoveredRelay] = [:]
    /// Counts lives of Avahi: an answer to an earlier one is void.
    private(set) var round = 0
    private(set) var isWanted = false
    private(set) var leftAlone = 0

    var relays: [DiscoveredRelay] { Array(told.values) }

    // MARK: What the host wants

    mutating func browse(isPresent: Bool) -> [Action] {
        guard !isWanted else { return [] }
        isWanted = true
        return isPresent ? appeared() : []
    }

    /// Asks for everything again, as after a change of the network. What is still there stays.
    mutating func refresh(isPresent: Bool) -> [Action] {
        guard case .browsing(let path) = browser else { return isPresent ? appeared() : [] }
        round &+= 1
        browser = .creating(early: [])
        stale = Set(sightings.keys)
        return [.freeBrowser(path: path), .createBrowser]
    }

    mutating func stop() -> [Action] {
        guard isWanted else { return [] }
        isWanted = false
        var actions: [Action] = []
        if case .browsing(let path) = browser { actions.append(.freeBrowser(path: path)) }
        return actions + gone()
    }

    // MARK: What Avahi says

    mutating func appeared() -> [Action] {
        guard isWanted, browser == .none else { return [] }
        round &+= 1
        browser = .creating(early: [])
        return [.createBrowser]
    }

    mutating func gone() -> [Action] {
        round &+= 1
        browser = .none
        sightings = [:]
        stale = []
        let lost = told.values.sorted { $0.name < $1.name }
        told = [:]
        return lost.map { .lost($0) }
    }

    mutating func created(path: String) -> [Action] {
        guard case .creating(let early) = browser else { return [] }
        browser = .browsing(path: path)
        var actions: [Action] = []
        for event in early {
            switch event {
            case .added(let sighting): actions += added(sighting, path: path)
            case .removed(let sighting): actions += removed(sighting, path: path)
            }
        }
        return actions
    }

    /// Avahi makes no browser for us.
    mutating func refused() -> [Action] {
        guard case .creating = browser else { return [] }
        return gone()
    }

    mutating func added(_ sighting: Sighting, path: String) -> [Action] {
        switch browser {
        case .none: return []
        case .creating(var early):
            if early.count < Self.maximumSightings {
                early.append(.added(sighting))
                browser = .creating(early: early)
            }
            return []
        case .browsing(let own):
            guard own == path, stale.remove(sighting) != nil || sightings[sighting] == nil else { return [] }
            guard sightings[sighting] != nil || sightings.count < Self.maximumSightings else {
                leftAlone &+= 1
                return []
            }
            sightings[sighting] = .waiting(attempt: 1, before: sightings[sighting]?.service)
            return [.resolve(sighting)]
        }
    }

    mutating func removed(_ sighting: Sighting, path: String) -> [Action] {
        switch browser {
        case .none: return []
        case .creating(var early):
            if early.count < Self.maximumSightings {
                early.append(.removed(sighting))
                browser = .creating(early: early)
            }
            return []
        case .browsing(let own):
            guard own == path, sightings.removeValue(forKey: sighting) != nil else { return [] }
            stale.remove(sighting)
            return update(sighting.service)
        }
    }

    /// Avahi has told all that it knows now: what a refresh has not found again is gone.
    mutating func settled(path: String) -> [Action] {
        guard case .browsing(path) = browser else { return [] }
        let gone = stale
        stale = []
        for sighting in gone { sightings[sighting] = nil }
        return Set(gone.map(\.service)).sorted { $0.name < $1.name }.flatMap { update($0) }
    }

    /// `nil`: the answer was none that can be used.
    mutating func resolved(_ sighting: Sighting, _ service: ResolvedService?) -> [Action] {
        guard case .browsing = browser, case .waiting = sightings[sighting] else { return [] }
        sightings[sighting] = service.map { .resolved($0) } ?? .failed
        return update(sighting.service)
    }

    mutating func resolveFailed(_ sighting: Sighting) -> [Action] {
        guard case .browsing = browser, case .waiting(let attempt, let before) = sightings[sighting] else { return [] }
        guard attempt < Self.maximumAttempts else {
            sightings[sighting] = .failed
            return update(sighting.service)
        }
        sightings[sighting] = .waiting(attempt: attempt + 1, before: before)
        return [.resolve(sighting)]
    }

    // MARK: One relay of many sightings

    private mutating func update(_ service: Service) -> [Action] {
        let candidates = sightings.compactMap { $0.key.service == service ? $0.value.service : nil }
        let best = candidates.min { ($0.rank, $0.url, $0.did ?? "") < ($1.rank, $1.url, $1.did ?? "") }
        guard let best else {
            guard let lost = told.removeValue(forKey: service) else { return [] }
            return [.lost(lost)]
        }
        let relay = DiscoveredRelay(name: Avahi.shown(service.name), url: best.url, did: best.did)
        guard told[service] != relay else { return [] }
        told[service] = relay
        return [.found(relay)]
    }
}
