import Foundation
import TestSupport
import Testing

/// Each check of the pairing flows can fail. The kept inputs named fails-… take a machine with a fault to the check.
///
/// After a change of a flow, `BELLWIRE_FIND_FAULTS=1 swift test --filter PairingFaultTests` looks for them again.
@Suite struct PairingFaultTests {
    /// A fault, the check that it must fail, and those that fail before.
    private struct Case {
        let kind: PairingFault.Kind
        let check: PairingCheck
        var past: Set<PairingCheck> = []

        var fault: PairingFault { PairingFault(kind: kind, past: past) }
        var name: String { "fails-\(check)" }
    }

    private static func cases(of flow: PairingFlow) -> [Case] {
        let timers = [
            Case(kind: .noTime, check: .timerLength), Case(kind: .noTimer, check: .stepWithoutLimit),
            Case(kind: .timerKept, check: .timerKept), Case(kind: .endless, check: .endless),
            Case(kind: .unasked, check: .pairedUnasked),
        ]
        let paired = Case(kind: .proofs, check: .pairedAsEncrypted)
        let proof = Case(kind: .proofs, check: .proofForStranger, past: [.pairedAsEncrypted])
        switch flow {
        case .desktopOffer, .deviceShow: return timers + [paired, proof]
        case .desktopScan, .deviceScan: return timers + [paired, Case(kind: .plainProofs, check: .sealAndProof)]
        case .desktopCode:
            let guess = Case(kind: .proofs, check: .guessConfirmed)
            let after: Set<PairingCheck> = [.guessConfirmed]
            return timers + [
                guess, Case(kind: .guesses, check: .fourthGuess),
                Case(kind: .proofs, check: .pairedAsEncrypted, past: after),
                Case(kind: .proofs, check: .proofForStranger, past: after.union([.pairedAsEncrypted])),
            ]
        case .deviceCode:
            return timers + [
                Case(kind: .proofs, check: .proofForStranger),
                Case(kind: .proofs, check: .pairedAsEncrypted, past: [.proofForStranger]),
            ]
        }
    }

    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Corpus")

    private static func fails(_ flow: PairingFlow, _ bytes: [UInt8], _ wanted: Case) -> Bool {
        do { try flow.run(bytes, fault: wanted.fault) } catch { return "\(error)" == wanted.check.rawValue }
        return false
    }

    @Test("a machine with a fault fails the check", arguments: PairingFlow.allCases)
    func fails(flow: PairingFlow) throws {
        if ProcessInfo.processInfo.environment["BELLWIRE_FIND_FAULTS"] != nil { try Self.find(flow) }
        for wanted in Self.cases(of: flow) {
            let file = Self.corpus.appending(path: flow.rawValue).appending(path: wanted.name)
            let bytes = [UInt8](try Data(contentsOf: file))
            #expect(Self.fails(flow, bytes, wanted), "\(flow.rawValue): a fault that isn't found: \(wanted.name)")
            #expect(throws: Never.self, "\(flow.rawValue)/\(wanted.name)") { try flow.run(bytes) }
        }
    }

    @Test("every check is among them")
    func complete() {
        let checks = PairingFlow.allCases.flatMap { Self.cases(of: $0).map(\.check) }
        #expect(Set(checks) == Set(PairingCheck.allCases))
    }

    // MARK: Looking for them

    /// Tries random inputs, and the kept ones with changes, until each fault is found. Then makes the input as short as it
    /// can.
    private static func find(_ flow: PairingFlow) throws {
        var generator = SeededGenerator(seed: 5)
        let folder = corpus.appending(path: flow.rawValue)
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .map { [UInt8](try Data(contentsOf: folder.appending(path: $0))) }
        for wanted in cases(of: flow) {
            let file = folder.appending(path: wanted.name)
            if let old = try? Data(contentsOf: file), fails(flow, Array(old), wanted) { continue }
            for run in 0..<100_000 {
                // Small numbers, as most choices are.
                var bytes = (0..<Int.random(in: 1...1_024, using: &generator)).map { _ in
                    UInt8.random(in: 0...59, using: &generator)
                }
                if run % 2 == 0, let old = kept.randomElement(using: &generator) {
                    let place = Int.random(in: 0...old.count, using: &generator)
                    let piece = bytes.prefix(Int.random(in: 0...8, using: &generator))
                    bytes = Array(old[..<place] + piece + old[place...])
                }
                guard fails(flow, bytes, wanted) else { continue }
                try Data(shortest(bytes) { fails(flow, $0, wanted) }).write(to: file)
                break
            }
        }
    }

    private static func shortest(_ bytes: [UInt8], _ isKept: ([UInt8]) -> Bool) -> [UInt8] {
        var best = bytes
        var length = max(1, best.count / 2)
        while length > 0 {
            var start = 0
            while start < best.count {
                var shorter = best
                shorter.removeSubrange(start..<min(best.count, start + length))
                if isKept(shorter) { best = shorter } else { start += length }
            }
            length /= 2
        }
        return best
    }
}
