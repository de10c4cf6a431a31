import Identity
import Wire

/// What both sides of one sealed pairing share: enough to prove each of its frames (WirePairing, "Proof of the code").
struct PairingBond: Sendable, Equatable {
    let secret: PairingSecret
    let device: PeerID
    let desktop: PeerID
    /// The QR's six digits, or the nameplate of a typed code.
    let code: PairingCode

    /// `nil` unless both ids are keys: nothing else can seal or be sealed to.
    init?(secret: PairingSecret, device: PeerID, desktop: PeerID, code: PairingCode) {
        guard device.isKey, desktop.isKey else { return nil }
        self.secret = secret
        self.device = device
        self.desktop = desktop
        self.code = code
    }

    /// What both people can compare.
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

    private func mac(_ kind: PairingProof.Kind, _ time: EpochMilliseconds) -> String {
        PairingProof.mac(
            secret, kind: kind, deviceID: device.text, desktopID: desktop.text, code: code.digits, timestamp: time)
    }

    private func proves(_ mac: String?, _ kind: PairingProof.Kind, _ time: EpochMilliseconds?) -> Bool {
        guard let mac, let time else { return false }
        return PairingProof.verifies(
            mac, secret, kind: kind, deviceID: device.text, desktopID: desktop.text, code: code.digits,
            timestamp: time)
    }
}

extension PeerID {
    /// Is it the `did:key` of an Ed25519 key?
    var isKey: Bool { PublicKey(did: text) != nil }
}
