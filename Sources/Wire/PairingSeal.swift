package import JSON

/// What marks the code of a Bellwire peer: `"bw":{"v":1,"secret"}` (WirePairing, "Codes").
///
/// Deployed peers ignore the field.
package struct PairingSeal: Sendable, Equatable {
    package static let version: Int64 = 1

    /// 16 bytes in base64url: whoever has seen the code has them, and nobody else.
    package var secret: String
    /// The desktop's user is asked before it confirms, so its confirmation takes longer.
    package var confirm: Bool

    package init(secret: String, confirm: Bool = false) {
        self.secret = secret
        self.confirm = confirm
    }

    var json: JSONValue {
        ["v": .integer(Self.version), "secret": .string(secret), "confirm": confirm ? true : nil]
    }
}

/// The `bw` of an ack or a confirmation: `{"mac"}`. What is no text counts as absent, and so as no proof.
enum PairingMAC {
    static func read(_ object: JSONObject) -> String? { object["bw"]?["mac"]?.string }

    static func json(_ mac: String?) -> JSONValue? { mac.map { ["mac": .string($0)] } }
}

/// Which payloads can prove that their sender has seen a code (WirePairing, "Proof of the code").
package enum PairingProofs {
    /// Is it of a kind that carries a `mac`, and is one there? Says nothing about whether it is right.
    package static func isCarried(by payload: JSONObject) -> Bool {
        switch payload["type"]?.string {
        case PairAck.type, PairingConfirmation.type: PairingMAC.read(payload) != nil
        case PairingHello.type: payload["payload"]?.object.flatMap { PairingMAC.read($0) } != nil
        default: false
        }
    }
}

extension PairingFields {
    /// The `bw` of a code.
    ///
    /// A code without it is a deployed peer's. One whose `bw` cannot be read is refused, never taken for a plain one:
    /// there is no way back to plaintext. `confirm` is optional.
    func seal() throws(PairingFailure) -> PairingSeal? {
        guard let value = object["bw"], !value.isNull else { return nil }
        guard let bw = value.object else { throw PairingFailure(.badField, detail: "bw") }
        guard case .integer(PairingSeal.version)? = bw["v"] else { throw PairingFailure(.badField, detail: "bw.v") }
        guard let secret = bw["secret"]?.string, Base64URLText.holds(secret, bytes: 16) else {
            throw PairingFailure(.badField, detail: "bw.secret")
        }
        return PairingSeal(secret: secret, confirm: bw["confirm"]?.bool ?? false)
    }
}

/// base64url without padding, by its looks: what the bytes are is the business of whoever needs them.
enum Base64URLText {
    /// Can the text stand for exactly so many bytes?
    static func holds(_ text: String, bytes: Int) -> Bool {
        guard text.utf8.count == (bytes * 8 + 5) / 6 else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
