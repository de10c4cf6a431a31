import Foundation
import JSON
import Testing
import Wire

@testable import Identity
@testable import Pairing

/// The vectors that a second implementation made (Tests/Integration/pairing_proofs.py).
@Suite struct ProofVectorTests {
    private let vectors: JSONValue

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors/proofs.json")
        vectors = try JSONValue(parsing: [UInt8](Data(contentsOf: file)))
    }

    private func bond(_ pairing: JSONValue) throws -> PairingBond {
        let secret = try #require((pairing["secret"]?.string).flatMap(TextEncoding.hex.decode))
        let bytes = try #require(SecretBytes(secret))
        let device = try #require(vectors["device"]?.string)
        let desktop = try #require(vectors["desktop"]?.string)
        let code = try #require(PairingCode(vectors["code"]?.string ?? ""))
        let bond = try #require(
            PairingBond(secret: PairingSecret(bytes), device: PeerID(device), desktop: PeerID(desktop), code: code))
        guard let offers = pairing["offers"]?.object else { return bond }
        return bond.offering(
            OfferedVersions(
                code: SealVersions(offers["code"] ?? .null), answer: SealVersions(offers["answer"] ?? .null)))
    }

    /// What was said before a frame, as the machines know it.
    private func transcript(_ frame: String) throws -> [String] {
        let device = try #require(PairingRandom(base64url: vectors["device_random"]?.string ?? ""))
        let desktop = try #require(PairingRandom(base64url: vectors["desktop_random"]?.string ?? ""))
        let challenged = PairingBond.transcript(device.commitment, desktop)
        switch frame {
        case "ack that commits": return Array(challenged.prefix(2))
        case "challenge", "confirmation of a device's code": return challenged
        case "ack that reveals", "its confirmation", "hello that answers it": return challenged + [device.base64url]
        case "ack of a typed code", "confirmation of a typed code": return []
        default: throw PairingFailure(.badField, detail: frame)
        }
    }

    @Test("each proof is that of the vectors, with the line of the offers and without")
    func proofs() throws {
        let timestamp = try #require(vectors["timestamp"]?.integer)
        var count = 0
        for pairing in try #require(vectors["pairings"]?.array) {
            let bond = try bond(pairing)
            for proof in try #require(pairing["proofs"]?.array) {
                let kind = try #require(PairingProof.Kind(rawValue: proof["kind"]?.string ?? ""))
                let said = try transcript(proof["frame"]?.string ?? "")
                #expect(bond.mac(kind, timestamp, said) == proof["mac"]?.string, "\(proof["frame"] ?? .null)")
                #expect(bond.proves(proof["mac"]?.string, kind, timestamp, said))
                count += 1
            }
        }
        #expect(count == 64)
    }

    @Test("the preshared key is that of the vectors, of a QR code's secret and of CPace's key, or none")
    func presharedKeys() throws {
        for pairing in try #require(vectors["pairings"]?.array) {
            let key = try bond(pairing).presharedKey
            let expected = (pairing["psk"]?.string).flatMap(TextEncoding.hex.decode)
            #expect(key?.withBytes { $0 } == expected)
        }
    }
}
