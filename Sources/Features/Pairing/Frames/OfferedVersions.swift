import Identity
import Wire

/// The versions of the seal that the two sides of a pairing have offered each other (WirePairingProofs, "Versions of the
/// seal").
///
/// There are none unless both made an offer: a peer without sessions makes none, and its proofs have no line for it.
struct OfferedVersions: Sendable, Equatable {
    /// Of the code; of a typed one, those in the desktop's step 2.
    let code: SealVersions
    /// Of the side that answers the code.
    let answer: SealVersions

    init?(code: SealVersions?, answer: SealVersions?) {
        guard let code, let answer else { return nil }
        (self.code, self.answer) = (code, answer)
    }

    /// The last bytes of a typed code's session id, if the device makes an offer. The relay can change the desktop's offer in
    /// step 2, but not these: the key covers them (WirePairing, "Agreeing on a key").
    static let sessionMark = Array("seal-two".utf8)

    /// Whether the device of this session makes an offer.
    static func isMarked(_ sid: String) -> Bool {
        TextEncoding.base64url.decode(sid)?.suffix(sessionMark.count).elementsEqual(sessionMark) ?? false
    }

    /// The last line of each proof.
    var line: String { "seal \(code.text) \(answer.text)" }

    /// Whether both sides will use sessions, and so derive the preshared key.
    var allowsSessions: Bool { code.allowsSessions && answer.allowsSessions }
}

extension PairingFailure {
    /// For people: the peer knows the secret, but has not seen what this side offers.
    static let changedOffer = "the code was changed on its way: the seal versions that it offers are missing"
}
