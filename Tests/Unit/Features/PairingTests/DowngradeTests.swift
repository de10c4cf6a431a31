import Identity
import JSON
import TestSupport
import Testing
import Wire

@testable import Pairing

/// A relay that takes out or changes what makes a pairing secure, member by member, in each flow.
///
/// The changes are also made inside seals, as somebody could who seals for the peer but has not seen the code.
@Suite struct DowngradeTests {
    /// How one side ended.
    struct Side: Equatable {
        /// `nil` = it has stored nobody.
        var peer: PeerID?
        var isSecure = false
        var shortString: ShortAuthenticationString?
        /// `nil` = it has stored nobody.
        var key: PresharedKey??
    }

    struct Outcome {
        var device: Side
        var desktop: Side
    }

    enum Flow: CaseIterable, Sendable {
        case offer, confirmedOffer, show, typed, plainTyped

        /// Runs it until both sides have ended. Whoever is asked about a peer that does not seal says no.
        func run(seed: UInt64, _ carry: @escaping (PairingTable.Letter) -> [PairingTable.Letter]) -> Outcome {
            switch self {
            case .offer, .confirmedOffer: runOffer(seed, confirm: self == .confirmedOffer, carry)
            case .show: runShow(seed, carry)
            case .typed: runTyped(seed, legacy: .none, carry)
            case .plainTyped: runTyped(seed, legacy: .all, carry)
            }
        }

        private func runOffer(
            _ seed: UInt64, confirm: Bool, _ carry: @escaping (PairingTable.Letter) -> [PairingTable.Letter]
        ) -> Outcome {
            var flow = OfferTable(seed: seed)
            flow.table.carry = carry
            var offer = PeerFeatures.sessions.desktopOffer
            offer.seal?.confirm = confirm
            flow.acceptsSecure = true
            flow.show(offer)
            flow.scan(offer)
            var outcome = Outcome(device: Side(key: flow.deviceKey), desktop: Side(key: flow.desktopKey))
            if case .success(let desktop) = flow.device.reported { outcome.device.take(desktop) }
            if case .paired(let device) = flow.desktop.reported { outcome.desktop.take(device) }
            return outcome
        }

        private func runShow(
            _ seed: UInt64, _ carry: @escaping (PairingTable.Letter) -> [PairingTable.Letter]
        ) -> Outcome {
            var flow = ShowTable(seed: seed)
            flow.table.carry = carry
            flow.run()
            var outcome = Outcome(device: Side(key: flow.deviceKey), desktop: Side(key: flow.desktopKey))
            if case .completed(let desktop) = flow.device.reported { outcome.device.take(desktop) }
            if case .paired(let device) = flow.desktop.reported { outcome.desktop.take(device) }
            return outcome
        }

        private func runTyped(
            _ seed: UInt64, legacy: LegacyPairing,
            _ carry: @escaping (PairingTable.Letter) -> [PairingTable.Letter]
        ) -> Outcome {
            var flow = TypedCodeTable(seed: seed)
            flow.table.carry = carry
            flow.show(legacy: legacy)
            flow.type()
            flow.run()
            var outcome = Outcome(device: Side(key: flow.deviceKey), desktop: Side(key: flow.desktopKey))
            if let desktop = flow.pairedDesktop { outcome.device.take(desktop) }
            if let device = flow.pairedDevice { outcome.desktop.take(device) }
            return outcome
        }

        /// What an honest run sends. It pairs both sides.
        func honest(seed: UInt64) throws -> HonestRun {
            let run = HonestRun()
            let outcome = self.run(seed: seed) { letter in
                run.see(letter)
                return [letter]
            }
            try #require(outcome.device.peer == Fixture.desktop && outcome.desktop.peer == Fixture.device)
            return run
        }
    }

    private func expectSafe(_ outcome: Outcome, _ said: @autoclosure () -> String) {
        for (side, honest) in [(outcome.device, Fixture.desktop), (outcome.desktop, Fixture.device)] {
            guard let peer = side.peer else { continue }
            #expect(peer == honest, "paired with another peer: \(said())")
            #expect(side.isSecure, "paired without encryption: \(said())")
            #expect(side.key != .some(nil), "without a preshared key: \(said())")
        }
        guard outcome.device.peer != nil, outcome.desktop.peer != nil else { return }
        #expect(outcome.device.key == outcome.desktop.key, "with different keys: \(said())")
        #expect(
            outcome.device.shortString != nil && outcome.device.shortString == outcome.desktop.shortString,
            "with different digits: \(said())")
    }

    @Test(
        "each member of each frame is removed, null, of another type or of another run: nobody pairs less securely",
        arguments: Flow.allCases, [Int.max, 1])
    func members(flow: Flow, times: Int) throws {
        let honest = try flow.honest(seed: 1)
        let other = try flow.honest(seed: 2)
        let changes = RelayChange.all(of: honest.frames)
        #expect(changes.count > 200, "\(changes.count) changes")
        for change in changes {
            let relay = ChangingRelay([change], times: times, other: other)
            let outcome = flow.run(seed: 1, relay.carry)
            #expect(relay.hits > 0, "never happened: \(change)")
            expectSafe(outcome, "\(flow), \(change)")
        }
    }

    @Test("several changes at once, at random: the same", arguments: 0..<20 as Range<UInt64>)
    func several(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for flow in Flow.allCases {
            let honest = try flow.honest(seed: seed)
            let other = try flow.honest(seed: seed &+ 1_000)
            let changes = RelayChange.all(of: honest.frames)
            for _ in 0..<30 {
                let chosen = (0..<Int.random(in: 2...4, using: &random)).compactMap { _ in
                    changes.randomElement(using: &random)
                }
                let times = Bool.random(using: &random) ? Int.max : Int.random(in: 1...3, using: &random)
                let relay = ChangingRelay(chosen, times: times, other: other)
                let outcome = flow.run(seed: seed, relay.carry)
                expectSafe(outcome, "seed \(seed), \(flow), \(chosen)")
            }
        }
    }

    @Test(
        "a proof of the code that is missing or of another run pairs nobody: neither the one that should have had it",
        arguments: Flow.allCases)
    func proofs(flow: Flow) throws {
        let honest = try flow.honest(seed: 1)
        let other = try flow.honest(seed: 2)
        let proofs = RelayChange.all(of: honest.frames).filter { change in
            guard case .member(let path, _) = change.kind else { return false }
            return ["mac", "confirm", "share", "random", "commit"].contains(path.last ?? "")
        }
        #expect(proofs.count >= 18)
        for change in proofs {
            let relay = ChangingRelay([change], other: other)
            let outcome = flow.run(seed: 1, relay.carry)
            // The same random bytes in both runs.
            guard relay.effects > 0 else { continue }
            // Who has proved itself before may be stored on the other side alone.
            #expect(
                outcome.device.peer == nil || outcome.desktop.peer == nil, "\(flow), \(change): both sides are paired")
        }
    }
}

extension DowngradeTests.Side {
    fileprivate mutating func take(_ desktop: PairedDesktop) {
        (peer, isSecure, shortString) = (desktop.address, desktop.isSecure, desktop.shortString)
    }

    fileprivate mutating func take(_ device: PairedDevice) {
        (peer, isSecure, shortString) = (device.did, device.isSecure, device.shortString)
    }
}
