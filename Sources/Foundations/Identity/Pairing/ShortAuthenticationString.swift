/// The values that two users compare after a pairing: equal on both sides, unless somebody relays between them
/// (WirePairingProofs, "The digits").
///
/// The first 20 bits of an HMAC-SHA256 under the secret, in two forms. The ids are keys, so it differs when a key was
/// swapped.
package struct ShortAuthenticationString: Sendable, Hashable {
    /// 20 bits: what a record keeps of it.
    package let bits: Int

    /// Of peers that do not commit to random bytes. Whoever has the secret can search for a key that gives the same.
    package init(secret: PairingSecret, deviceID: String, desktopID: String) {
        self.init(secret, over: "bellwire-sas-v1\n\(deviceID)\n\(desktopID)")
    }

    /// Of both sides' random bytes too: the device had committed to its own before the desktop told its.
    package init(
        secret: PairingSecret, deviceID: String, desktopID: String, deviceRandom: PairingRandom,
        desktopRandom: PairingRandom
    ) {
        let randoms = "\(deviceRandom.base64url)\n\(desktopRandom.base64url)"
        self.init(secret, over: "bellwire-sas-v2\n\(deviceID)\n\(desktopID)\n\(randoms)")
    }

    private init(_ secret: PairingSecret, over text: String) {
        let mac = HMAC.sha256(key: secret.bytes, over: text)
        bits = (Int(mac[0]) << 12) | (Int(mac[1]) << 4) | (Int(mac[2]) >> 4)
    }

    /// Out of a record; `nil` for more than 20 bits.
    package init?(bits: Int) {
        guard (0..<(1 << 20)).contains(bits) else { return nil }
        self.bits = bits
    }

    /// Six digits: the number modulo 1,000,000, with its leading zeros.
    package var digits: String {
        let text = String(bits % 1_000_000)
        return String(repeating: "0", count: 6 - text.utf8.count) + text
    }

    /// Two words of ``WordList``, one for each half of the number.
    package var words: [String] { [WordList.words[bits >> 10], WordList.words[bits & 0x3ff]] }
}
