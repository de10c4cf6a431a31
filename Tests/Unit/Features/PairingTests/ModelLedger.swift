import TestSupport
import Testing
import Wire

@testable import Pairing

/// What an owner has noted of the actions of any machine, and what must hold of them.
struct ModelLedger {
    /// An action, as far as all machines have it in common.
    enum Note: Equatable {
        case startTimer(UInt64)
        case stopTimer
        case open(RouteID)
        case close(RouteID)
        /// Something that goes to the wire or to the store: it may cause the next event at once.
        case causing
        /// Whether it is the state that the machine reports.
        case report(isCurrent: Bool)
    }

    private(set) var timer: UInt64?
    private(set) var held: Set<RouteID> = []

    private func note<Known>(_ step: PairingStep<Known>, _ reported: PairingState) -> Note {
        switch step {
        case .startTimer(let wait): .startTimer(wait)
        case .stopTimer: .stopTimer
        case .open(let route): .open(route.id)
        case .openAlias(let alias): .open(RouteID(alias.text))
        case .close(let route): .close(route)
        case .closeAlias: .close(held.first ?? RouteID("nothing"))
        case .send, .sendHello, .withdraw, .store: .causing
        case .report(let state): .report(isCurrent: state == reported)
        }
    }

    /// - Parameters:
    ///   - reported: the machine's state after these steps.
    ///   - needsTimer: something is under way that no one but a timer can be trusted to end.
    mutating func take<Known>(
        _ steps: [PairingStep<Known>], _ reported: PairingState, isActive: Bool, needsTimer: Bool, holds: Set<RouteID>
    ) {
        take(steps.map { note($0, reported) }, isActive: isActive, needsTimer: needsTimer, holds: holds)
    }

    private mutating func take(_ notes: [Note], isActive: Bool, needsTimer: Bool, holds: Set<RouteID>) {
        for (index, note) in notes.enumerated() {
            switch note {
            case .startTimer(let wait):
                #expect(wait > 0 && wait <= 300_000)
                timer = wait
            case .stopTimer: timer = nil
            case .open(let name):
                #expect(index == notes.count - 1, "more follows what may cause the next event")
                held.insert(name)
            case .close(let name): #expect(held.remove(name) != nil, "something is closed and was not open")
            case .causing: break
            case .report(let isCurrent):
                // An outdated report may stand before the one that counts.
                #expect(isCurrent || notes[(index + 1)...].contains(.report(isCurrent: true)), "an outdated report")
            }
        }
        #expect(holds.isSubset(of: held), "what is needed was never opened")
        // What succeeded keeps its connections: they are the peer's now.
        if !isActive { held = [] } else { #expect(held == holds, "something is kept open") }
        if needsTimer { #expect(timer != nil, "a step without a limit") }
        if !isActive { #expect(timer == nil, "a timer is kept") }
    }

    /// The connection is none: what was open is not any more.
    mutating func lost(_ name: RouteID) { held.remove(name) }

    /// The timer fires; gives how long it took.
    mutating func fire() -> Int64? {
        defer { timer = nil }
        return timer.map { Int64($0) }
    }
}
