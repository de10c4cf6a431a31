/// Keeps a relay advertised: under its name or, where another has that, a similar one; again whenever Avahi comes back.
struct PublishStateMachine: Sendable {
    /// Names that are tried in one life of Avahi.
    static let maximumNames = 16

    struct Offer: Equatable, Sendable {
        var name: String
        var port: UInt16
        var record: TXTRecord
    }

    enum Action: Equatable, Sendable {
        /// Ask in what state Avahi's server is.
        case askState
        case createGroup
        /// Put the offer into the group under this name, and register it.
        case add(path: String, name: String, Offer)
        case reset(path: String)
        case free(path: String)
        case askAlternative(to: String)
        /// It is on the network under this name; `nil` = it no longer is.
        case published(name: String?)
        /// Why it is not, for people.
        case note(String)
    }

    /// Why Avahi did not take a service.
    enum Refusal: Equatable, Sendable { case collision, other(String) }

    private enum State: Equatable {
        /// No offer, or no Avahi.
        case idle
        /// Avahi's own host name is not settled: nothing can be added yet.
        case waiting(path: String?)
        case creating
        case adding(path: String)
        case renaming(path: String)
        case published(path: String)
        case failed(path: String?)

        var path: String? {
            switch self {
            case .idle, .creating: nil
            case .waiting(let path), .failed(let path): path
            case .adding(let path), .renaming(let path), .published(let path): path
            }
        }
    }

    private var state = State.idle
    private var offer: Offer?
    private var isPresent = false
    private var name = ""
    private var namesTried = 0
    /// Counts lives of Avahi and changes of the offer: an answer to an earlier one is void.
    private(set) var round = 0

    // MARK: What the host wants

    mutating func publish(_ new: Offer) -> [Action] {
        guard new != offer else { return [] }
        let actions = withdraw()
        offer = new
        return actions + begin()
    }

    mutating func withdraw() -> [Action] {
        guard offer != nil else { return [] }
        offer = nil
        return end(freeing: true)
    }

    // MARK: What Avahi says

    mutating func appeared() -> [Action] {
        isPresent = true
        return begin()
    }

    mutating func gone() -> [Action] {
        isPresent = false
        return end(freeing: false)
    }

    private mutating func begin() -> [Action] {
        guard let offer, isPresent, state == .idle else { return [] }
        round &+= 1
        name = offer.name
        namesTried = 1
        state = .waiting(path: nil)
        return [.askState]
    }

    private mutating func end(freeing: Bool) -> [Action] {
        round &+= 1
        var actions: [Action] = []
        if freeing, let path = state.path { actions.append(.free(path: path)) }
        if case .published = state { actions.append(.published(name: nil)) }
        state = .idle
        return actions
    }

    mutating func server(state new: Int32) -> [Action] {
        switch new {
        case Avahi.ServerState.running: return serverRuns()
        case Avahi.ServerState.collision, Avahi.ServerState.registering: return serverStops()
        default: return []
        }
    }

    private mutating func serverRuns() -> [Action] {
        guard case .waiting(let path) = state, let offer else { return [] }
        guard let path else {
            state = .creating
            return [.createGroup]
        }
        state = .adding(path: path)
        return [.add(path: path, name: name, offer)]
    }

    /// The host is getting another name: what was registered under the old one has to go.
    private mutating func serverStops() -> [Action] {
        switch state {
        case .adding(let path), .renaming(let path), .failed(.some(let path)):
            round &+= 1
            state = .waiting(path: path)
            return [.reset(path: path)]
        case .published(let path):
            round &+= 1
            state = .waiting(path: path)
            return [.reset(path: path), .published(name: nil)]
        case .idle, .waiting, .creating, .failed(.none): return []
        }
    }

    mutating func created(path: String) -> [Action] {
        guard state == .creating, let offer else { return [] }
        state = .adding(path: path)
        return [.add(path: path, name: name, offer)]
    }

    /// Avahi did not answer as it should while a group was made or the state asked for.
    mutating func refused(_ reason: String) -> [Action] {
        switch state {
        case .creating, .waiting(.none):
            state = .failed(path: nil)
            return [.note(reason)]
        case .adding(let path), .renaming(let path):
            state = .failed(path: path)
            return [.note(reason)]
        case .idle, .waiting(.some), .published, .failed: return []
        }
    }

    mutating func notAdded(_ refusal: Refusal) -> [Action] {
        guard case .adding = state else { return [] }
        switch refusal {
        case .collision: return collided()
        case .other(let reason): return refused(reason)
        }
    }

    mutating func group(state new: Int32, path: String) -> [Action] {
        guard state.path == path else { return [] }
        switch new {
        case Avahi.GroupState.established:
            guard case .adding = state else { return [] }
            state = .published(path: path)
            return [.published(name: name)]
        case Avahi.GroupState.collision: return collided()
        case Avahi.GroupState.failure:
            let wasPublished = state == .published(path: path)
            guard wasPublished || state == .adding(path: path) else { return [] }
            state = .failed(path: path)
            return (wasPublished ? [.published(name: nil)] : []) + [.note("Avahi cannot publish the relay")]
        default: return []
        }
    }

    private mutating func collided() -> [Action] {
        let path: String
        var actions: [Action] = []
        switch state {
        case .adding(let own): path = own
        case .published(let own):
            path = own
            actions.append(.published(name: nil))
        case .idle, .waiting, .creating, .renaming, .failed: return []
        }
        actions.append(.reset(path: path))
        guard namesTried < Self.maximumNames else {
            state = .failed(path: path)
            return actions + [.note("all tried names for the relay are already in use on this network")]
        }
        namesTried += 1
        state = .renaming(path: path)
        return actions + [.askAlternative(to: name)]
    }

    /// `nil`, or a text that can be no name: another is made here.
    mutating func alternative(_ text: String?) -> [Action] {
        guard case .renaming(let path) = state, let offer else { return [] }
        if let text, !text.isEmpty, text.utf8.count <= Avahi.maximumName, text != name {
            name = text
        } else {
            let number = " #\(namesTried)"
            var base = offer.name
            while base.utf8.count + number.utf8.count > Avahi.maximumName { base.removeLast() }
            name = base + number
        }
        state = .adding(path: path)
        return [.add(path: path, name: name, offer)]
    }
}
