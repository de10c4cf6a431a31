/// The state of the connection to a bus, and when to retry.
///
/// Exits: `ready` and `waiting` go on for as long as the bus is open; `unavailable` stays, for nothing that can be
/// waited for would change it.
struct BusLinkStateMachine: Sendable {
    enum State: Equatable, Sendable {
        case closed
        case connecting
        case ready(name: String)
        case waiting(BusError)
        case unavailable(BusError)
    }

    enum OpenAction: Equatable { case none, connect }
    enum ReadyAction: Equatable { case none, announce }
    enum FailAction: Equatable {
        case none
        case waitFor(milliseconds: UInt64)
        case giveUp
    }
    enum CloseAction: Equatable { case none, disconnect }

    /// The most that each attempt after the first waits, in milliseconds. A machine without a bus gets none later.
    static let ceilings: [UInt64] = [500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000]

    private(set) var state = State.closed
    private var failures = 0

    mutating func open() -> OpenAction {
        switch state {
        case .closed:
            state = .connecting
            return .connect
        case .connecting, .ready, .waiting, .unavailable: return .none
        }
    }

    mutating func welcomed(as name: String) -> ReadyAction {
        switch state {
        case .connecting:
            state = .ready(name: name)
            failures = 0
            return .announce
        case .closed, .ready, .waiting, .unavailable: return .none
        }
    }

    /// Connecting failed, or the connection has ended.
    mutating func failed(
        _ error: BusError, using generator: inout some RandomNumberGenerator
    ) -> FailAction {
        switch state {
        case .connecting, .ready:
            guard error.code != .unavailable, error.code != .noAddress else {
                state = .unavailable(error)
                return .giveUp
            }
            state = .waiting(error)
            let ceiling = Self.ceilings[min(failures, Self.ceilings.count - 1)]
            failures = min(failures + 1, Self.ceilings.count - 1)
            return .waitFor(milliseconds: UInt64.random(in: 0...ceiling, using: &generator))
        case .closed, .waiting, .unavailable: return .none
        }
    }

    mutating func waited() -> OpenAction {
        switch state {
        case .waiting:
            state = .connecting
            return .connect
        case .closed, .connecting, .ready, .unavailable: return .none
        }
    }

    mutating func close() -> CloseAction {
        switch state {
        case .closed: return .none
        case .connecting, .ready, .waiting, .unavailable:
            state = .closed
            failures = 0
            return .disconnect
        }
    }
}
