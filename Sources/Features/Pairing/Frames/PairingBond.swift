import Identity
import Wire

/// The values that both sides of an encrypted pairing share: enough to prove each of its frames (WirePairingProofs,
/// "The lines of a proof").
struct PairingBond: Sendable, Equatable {
    let secret: PairingSecret
    let device: PeerID
    let desktop: PeerID
    /// The QR's six digits, or the nameplate of a typed code.
    let code: PairingCode
    /// `nil` unless both sides have offered versions of the seal. Each proof has a line for them.
    private(set) var versions: OfferedVersions?

    /// `nil` unless both ids are keys: nothing else can seal or be sealed to.
    init?(secret: PairingSecret, device: PeerID, desktop: PeerID, code: PairingCode) {
        guard device.isKey, desktop.isKey else { return nil }
        self.secret = secret
        self.device = device
        self.desktop = desktop
        self.code = code
    }

    /// The same with the versions that the two sides have offered; `nil` = one of them has made no offer.
    func offering(_ versions: OfferedVersions?) -> PairingBond {
        var bond = self
        bond.versions = versions
        return bond
    }

    /// Of the sessions between the two; `nil` unless both use sessions. It depends on the secret and the ids alone, so that
    /// a device that scans the same code again gets the same.
    var presharedKey: PresharedKey? {
        guard versions?.allowsSessions == true else { return nil }
        return PresharedKey(secret, deviceID: device.text, desktopID: desktop.text)
    }

    /// What both people can compare, if one side knows of no revision.
    var shortString: ShortAuthenticationString {
        ShortAuthenticationString(secret: secret, deviceID: device.text, desktopID: desktop.text)
    }

    /// The device's ack, with its proof.
    func ack(of deviceInfo: PairingDeviceInfo, at now: EpochMilliseconds) -> PairAck {
        PairAck(code: code, mobileDID: device, deviceInfo: deviceInfo, timestamp: now, mac: mac(.ack, now))
    }

    /// The desktop's confirmation, with its proof.
    func confirmation(of deviceInfo: PairingDeviceInfo, at now: EpochMilliseconds) -> PairingConfirmation {
        PairingConfirmation(
            code: code, pcPeerID: desktop, deviceInfo: deviceInfo, timestamp: now, mac: mac(.confirmation, now))
    }

    /// Was the ack made by this device, knowing the secret?
    func proves(_ ack: PairAck) -> Bool {
        ack.code == code && ack.mobileDID == device && proves(ack.mac, .ack, ack.timestamp)
    }

    /// Was the confirmation made by this desktop, knowing the secret?
    func proves(_ confirmation: PairingConfirmation) -> Bool {
        confirmation.code == code && proves(confirmation.mac, .confirmation, confirmation.timestamp)
    }

    func mac(_ kind: PairingProof.Kind, _ time: EpochMilliseconds, _ transcript: [String] = []) -> String {
        PairingProof.mac(
            secret, kind: kind, deviceID: device.text, desktopID: desktop.text, code: code.digits, timestamp: time,
            transcript: lines(transcript))
    }

    func proves(
        _ mac: String?, _ kind: PairingProof.Kind, _ time: EpochMilliseconds?, _ transcript: [String] = []
    ) -> Bool {
        guard let mac, let time else { return false }
        return PairingProof.verifies(
            mac, secret, kind: kind, deviceID: device.text, desktopID: desktop.text, code: code.digits,
            timestamp: time, transcript: lines(transcript))
    }

    private func lines(_ transcript: [String]) -> [String] { versions.map { transcript + [$0.line] } ?? transcript }
}

// The desktop scans a code of revision 1 (WirePairing, "The desktop scans").
extension PairingBond {
    /// What both people can compare.
    func shortString(deviceRandom: PairingRandom, desktopRandom: PairingRandom) -> ShortAuthenticationString {
        ShortAuthenticationString(
            secret: secret, deviceID: device.text, desktopID: desktop.text, deviceRandom: deviceRandom,
            desktopRandom: desktopRandom)
    }

    /// The desktop's confirmation for a code with this commitment.
    func confirmation(
        of deviceInfo: PairingDeviceInfo, to commitment: String, random: PairingRandom, at now: EpochMilliseconds
    ) -> PairingConfirmation {
        PairingConfirmation(
            code: code, pcPeerID: desktop, deviceInfo: deviceInfo, timestamp: now,
            mac: mac(.confirmation, now, Self.transcript(commitment, random)), random: random.base64url)
    }

    /// Was the confirmation made by this desktop, knowing the secret, for a code with this commitment?
    func proves(_ confirmation: PairingConfirmation, to commitment: String, random: PairingRandom) -> Bool {
        confirmation.code == code
            && proves(
                confirmation.mac, .confirmation, confirmation.timestamp, Self.transcript(commitment, random))
    }

    /// The proof in the device's hello, which reveals its random bytes.
    func helloProof(
        _ deviceRandom: PairingRandom, desktopRandom: PairingRandom, at now: EpochMilliseconds
    ) -> PairingHello.Proof {
        let transcript = Self.transcript(deviceRandom.commitment, desktopRandom) + [deviceRandom.base64url]
        return PairingHello.Proof(
            timestamp: now, mac: mac(.hello, now, transcript), random: deviceRandom.base64url)
    }

    /// The random bytes in a hello, if the device made it, knowing the secret and this desktop's random bytes, and if they
    /// are those to which its code has committed.
    func deviceRandom(
        in proof: PairingHello.Proof, commitment: String, desktopRandom: PairingRandom
    ) -> PairingRandom? {
        guard let random = PairingRandom(base64url: proof.random), random.commitment == commitment,
            proves(
                proof.mac, .hello, proof.timestamp,
                Self.transcript(commitment, desktopRandom) + [random.base64url])
        else { return nil }
        return random
    }

    /// What every proof between peers of revision 1 covers, as far as it was said.
    static func transcript(_ commitment: String, _ desktopRandom: PairingRandom) -> [String] {
        [String(PairingRevision.current), commitment, desktopRandom.base64url]
    }
}

extension PeerID {
    /// Is it the `did:key` of an Ed25519 key?
    var isKey: Bool { PublicKey(did: text) != nil }
}
