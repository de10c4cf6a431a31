import Identity
import Wire

/// A device's commitment and the random bytes that a desktop answered (WirePairing, "The device scans").
///
/// The device is bound to its bytes before it sees the desktop's, and the desktop sends its own before it sees the
/// device's. So neither side, nor anyone between them, can choose bytes that give certain digits.
struct CommittedExchange: Sendable, Equatable {
    let bond: PairingBond
    /// SHA-256 of the device's random bytes, in base64url.
    let commitment: String
    let desktopRandom: PairingRandom

    /// What a reveal proves.
    enum Reveal: Sendable, Equatable {
        case valid(RevealedExchange)
        /// Its sender knows the secret, but reveals other bytes than those it committed to.
        case mismatch
        /// Its sender does not know the secret, or means another exchange.
        case unproved
    }

    /// The desktop's answer to the commitment.
    func challenge(at now: EpochMilliseconds) -> PairingChallenge {
        PairingChallenge(
            code: bond.code, timestamp: now, mac: bond.mac(.challenge, now, transcript),
            random: desktopRandom.base64url)
    }

    /// Was the challenge made by this desktop, knowing the secret and the commitment?
    func proves(_ challenge: PairingChallenge) -> Bool {
        challenge.code == bond.code && bond.proves(challenge.mac, .challenge, challenge.timestamp, transcript)
    }

    func reveal(in ack: PairAck) -> Reveal {
        guard let text = ack.random, ack.commitment == commitment, ack.code == bond.code, ack.mobileDID == bond.device,
            bond.proves(ack.mac, .ack, ack.timestamp, transcript + [text])
        else { return .unproved }
        guard let random = PairingRandom(base64url: text), random.commitment == commitment else { return .mismatch }
        return .valid(RevealedExchange(self, deviceRandom: random))
    }

    fileprivate var transcript: [String] { PairingBond.transcript(commitment, desktopRandom) }
}

/// An exchange of which both sides' random bytes are known.
struct RevealedExchange: Sendable, Equatable {
    let exchange: CommittedExchange
    let deviceRandom: PairingRandom

    init(_ exchange: CommittedExchange, deviceRandom: PairingRandom) {
        self.exchange = exchange
        self.deviceRandom = deviceRandom
    }

    /// The device's ack that reveals its bytes.
    func ack(of deviceInfo: PairingDeviceInfo, at now: EpochMilliseconds) -> PairAck {
        let bond = exchange.bond
        return PairAck(
            code: bond.code, mobileDID: bond.device, deviceInfo: deviceInfo, timestamp: now,
            mac: bond.mac(.ack, now, transcript), commitment: exchange.commitment, random: deviceRandom.base64url)
    }

    /// The desktop's confirmation, which proves that it has the device's bytes.
    func confirmation(of deviceInfo: PairingDeviceInfo, at now: EpochMilliseconds) -> PairingConfirmation {
        let bond = exchange.bond
        return PairingConfirmation(
            code: bond.code, pcPeerID: bond.desktop, deviceInfo: deviceInfo, timestamp: now,
            mac: bond.mac(.confirmation, now, transcript), random: exchange.desktopRandom.base64url)
    }

    /// Was the confirmation made by this desktop, knowing the secret and the random bytes of both sides?
    func proves(_ confirmation: PairingConfirmation) -> Bool {
        confirmation.code == exchange.bond.code && confirmation.random == exchange.desktopRandom.base64url
            && exchange.bond.proves(confirmation.mac, .confirmation, confirmation.timestamp, transcript)
    }

    /// What both people can compare.
    var shortString: ShortAuthenticationString {
        exchange.bond.shortString(deviceRandom: deviceRandom, desktopRandom: exchange.desktopRandom)
    }

    private var transcript: [String] { exchange.transcript + [deviceRandom.base64url] }
}

// The device's first ack, which begins an exchange.
extension PairingBond {
    func ack(of deviceInfo: PairingDeviceInfo, committingTo commitment: String, at now: EpochMilliseconds) -> PairAck {
        PairAck(
            code: code, mobileDID: device, deviceInfo: deviceInfo, timestamp: now,
            mac: mac(.ack, now, [String(PairingRevision.current), commitment]), commitment: commitment)
    }

    /// Was the ack made by this device, knowing the secret, with this commitment and nothing revealed?
    func proves(_ ack: PairAck, committingTo commitment: String) -> Bool {
        ack.code == code && ack.mobileDID == device && ack.random == nil
            && proves(ack.mac, .ack, ack.timestamp, [String(PairingRevision.current), commitment])
    }
}
