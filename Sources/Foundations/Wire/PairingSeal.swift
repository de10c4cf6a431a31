package import JSON

/// The mark of a Bellwire peer's code: `"bw":{"v":1,"secret","confirm"?,"rev"?,"commit"?,"seal"?}` (WirePairing,
/// "Codes").
///
/// Deployed peers ignore the field.
package struct PairingSeal: Sendable, Equatable {
    package static let version: Int64 = 1

    /// 16 bytes in base64url: whoever has seen the code has them, and nobody else.
    package var secret: String
    /// The desktop's user is asked before it confirms, so its confirmation takes longer.
    package var confirm: Bool
    /// Its owner knows of revisions. If it is a desktop, it answers a device's commitment.
    package var hasRevision: Bool
    /// SHA-256 of the device's random bytes, in base64url: in a device's code of revision 1.
    package var commitment: String?
    /// What its owner offers (WireSessions, "Versions"); `nil` = it has no sessions.
    package var versions: SealVersions?

    /// - Parameter hasRevision: a code with a commitment has one in any case.
    package init(
        secret: String, confirm: Bool = false, hasRevision: Bool = false, commitment: String? = nil,
        versions: SealVersions? = nil
    ) {
        self.secret = secret
        self.confirm = confirm
        self.hasRevision = hasRevision || commitment != nil
        self.commitment = commitment
        self.versions = versions
    }

    var json: JSONValue {
        [
            "v": .integer(Self.version), "secret": .string(secret), "confirm": confirm ? true : nil,
            "rev": hasRevision ? .integer(PairingRevision.current) : nil,
            "commit": commitment.map(JSONValue.string), "seal": versions?.json,
        ]
    }
}

/// What a peer with `rev` can do (WirePairingProofs, "What a revision adds").
package enum PairingRevision {
    /// The digits to compare depend on random bytes of both sides, and the hello that answers a scan proves the code.
    package static let current: Int64 = 1
}

/// The `bw` of a pairing frame: `{"mac","rev"?,"commit"?,"random"?,"seal"?}`. What is no text counts as absent, and so as
/// no proof.
enum PairingMAC {
    static func read(_ object: JSONObject) -> String? { object["bw"]?["mac"]?.string }

    static func random(_ object: JSONObject) -> String? { revised("random", object) }
    static func commitment(_ object: JSONObject) -> String? { revised("commit", object) }

    /// Only with a `rev` that we know.
    private static func revised(_ member: String, _ object: JSONObject) -> String? {
        guard let revision = object["bw"]?["rev"]?.integer, revision >= PairingRevision.current else { return nil }
        return object["bw"]?[member]?.string
    }

    /// What its sender offers. Throws for an offer that can't be read.
    static func versions(_ object: JSONObject) throws(PairingFailure) -> SealVersions? {
        try PairingFields(object).sealVersions(object["bw"]?["seal"], "bw.seal")
    }

    static func json(
        _ mac: String?, commitment: String? = nil, random: String? = nil, versions: SealVersions? = nil
    ) -> JSONValue? {
        mac.map {
            [
                "mac": .string($0),
                "rev": commitment == nil && random == nil ? nil : .integer(PairingRevision.current),
                "commit": commitment.map(JSONValue.string), "random": random.map(JSONValue.string),
                "seal": versions?.json,
            ]
        }
    }
}

/// The payloads that can prove that their sender has seen a code (WirePairingProofs, "The lines of a proof").
package enum PairingProofs {
    /// Is it of a kind that carries a `mac`, and is one there? Says nothing about whether it is right.
    package static func isCarried(by payload: JSONObject) -> Bool {
        switch payload["type"]?.string {
        case PairAck.type, PairingConfirmation.type: PairingMAC.read(payload) != nil
        case PairingHello.type, PairingChallenge.type: payload["payload"]?.object.flatMap { PairingMAC.read($0) } != nil
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
        var seal = PairingSeal(secret: secret, confirm: bw["confirm"]?.bool ?? false)
        seal.versions = try sealVersions(bw["seal"], "bw.seal")
        guard let revision = bw["rev"], !revision.isNull else { return seal }
        guard case .integer(let number) = revision, number > 0 else {
            throw PairingFailure(.badField, detail: "bw.rev")
        }
        seal.hasRevision = true
        guard let commitment = bw["commit"], !commitment.isNull else { return seal }
        guard let text = commitment.string, Base64URLText.holds(text, bytes: 32) else {
            throw PairingFailure(.badField, detail: "bw.commit")
        }
        seal.commitment = text
        return seal
    }

    /// The `bw` of a device's code: one of revision 1 commits to random bytes.
    func deviceSeal() throws(PairingFailure) -> PairingSeal? {
        let seal = try seal()
        guard seal?.commitment == nil, let revision = object["bw"]?["rev"], !revision.isNull else { return seal }
        throw PairingFailure(.badField, detail: "bw.commit")
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
