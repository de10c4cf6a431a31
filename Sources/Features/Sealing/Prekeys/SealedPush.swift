package import Identity
package import JSON
package import Wire

/// A push for a push service, sealed to one prekey of a device (WirePrekeys, "Sealed pushes").
///
/// One text, which stands in the member `bellwire` of a service's payload. It names the prekey and nothing else: neither
/// the desktop nor the device.
package struct SealedPush: Sendable, Equatable {
    static let member = "bellwire"
    /// Of a padded plaintext. With it an APNs payload stays below 4 KiB. It is a Padmé size.
    static let paddedLimit = 2_816
    /// Of the plaintext.
    package static let contentLimit = paddedLimit - 1
    private static let suite: UInt8 = 1

    /// What both sides must agree on besides the keys.
    package struct Pair: Sendable {
        package let desktop: PeerID
        package let device: PeerID
        package let presharedKey: PresharedKey

        package init(desktop: PeerID, device: PeerID, presharedKey: PresharedKey) {
            self.desktop = desktop
            self.device = device
            self.presharedKey = presharedKey
        }
    }

    package struct Opened: Sendable, Equatable {
        /// A complete payload.
        package let body: JSONObject
        /// When it was sealed, by the desktop's clock.
        package let timestamp: EpochMilliseconds?
    }

    package let prekey: PrekeyID
    private let message: [UInt8]

    /// Throws `malformed`.
    package init(_ text: String) throws(SealError) {
        let limit = (Self.head + NoiseKpsk0.overhead + Self.paddedLimit + 2) / 3 * 4
        guard text.utf8.count <= limit, let bytes = PublicBase64URL.decode(text), bytes.first == Self.suite,
            bytes.count >= Self.head + NoiseKpsk0.overhead + Padding.smallest,
            let prekey = PrekeyID(bytes: Array(bytes[1..<Self.head]))
        else {
            throw SealError(.malformed, "the sealed push is not base64url, of another version, or too short or long")
        }
        self.prekey = prekey
        message = Array(bytes[Self.head...])
    }

    /// A version and the prekey's id.
    private static let head = 1 + PrekeyID.byteCount

    private init(prekey: PrekeyID, message: [UInt8]) {
        self.prekey = prekey
        self.message = message
    }

    /// What stands in a payload of a push service: beside everything else, or in `data`. `nil` = there is none.
    package static func text(in payload: JSONObject) -> String? {
        let message = payload["message"]?.object ?? payload
        return (message[member] ?? message["data"]?[member])?.string
    }

    package var text: String { PublicBase64URL.encode([Self.suite] + prekey.bytes + message) }

    /// How many bytes a push has when it is sealed. At most ``contentLimit`` fit.
    package static func size(of body: JSONObject, timestamp: EpochMilliseconds) -> Int {
        SessionPlaintext(timestamp: timestamp, body: body).bytes.count
    }

    /// - Parameters:
    ///   - own: the X25519 form of the desktop's identity.
    ///   - ephemeral: a new key, for this push alone.
    ///
    /// Throws `too_large`, `no_key`, `weak_point`.
    package static func seal(
        _ body: JSONObject, timestamp: EpochMilliseconds, by own: AgreementKey, to prekey: AgreementPublicKey,
        ephemeral: AgreementKey, _ pair: Pair
    ) throws(SealError) -> SealedPush {
        let content = SessionPlaintext(timestamp: timestamp, body: body).filledBytes
        guard content.count <= contentLimit else {
            throw SealError(.tooLarge, "\(content.count) bytes exceed the limit of \(contentLimit)")
        }
        let id = PrekeyID(prekey)
        let context = try context(id, pair)
        do throws(NoiseError) {
            let message = try NoiseKpsk0.seal(
                Padding.pad(content), from: own, to: prekey, ephemeral: ephemeral, context)
            return SealedPush(prekey: id, message: message)
        } catch {
            throw SealError(.weakPoint, "a prekey is not a valid point")
        }
    }

    /// - Parameter key: the prekey that it names.
    ///
    /// Throws `forged`, `weak_point`, `no_key`, `malformed`.
    package func open(with key: AgreementKey, _ pair: Pair) throws(SealError) -> Opened {
        guard let identity = PublicKey(did: pair.desktop.text) else {
            throw SealError(.noKey, "the desktop's id is not a key")
        }
        let context = try Self.context(prekey, pair)
        let padded: [UInt8]
        do throws(NoiseError) {
            padded = try NoiseKpsk0.open(message, from: AgreementPublicKey(identity), to: key, context)
        } catch {
            switch error.code {
            case .forged: throw SealError(.forged, "the sealed push was modified, or was made with other keys")
            default: throw SealError(.weakPoint, "the sealed push's ephemeral key is not a valid point")
            }
        }
        guard let content = Padding.unpad(padded) else {
            throw SealError(.malformed, "the sealed push has the wrong padding")
        }
        let plaintext = try SessionPlaintext(decoding: content)
        return Opened(body: plaintext.body, timestamp: plaintext.timestamp)
    }

    /// `bellwire-push-v1 ‖ desktop ‖ device ‖ version ‖ prekey`: the label and the ids each end with a line feed.
    ///
    /// Throws `no_key` for an id with a line feed in it.
    private static func context(_ prekey: PrekeyID, _ pair: Pair) throws(SealError) -> NoiseKpsk0.Context {
        for peer in [pair.desktop, pair.device] where peer.text.utf8.contains(UInt8(ascii: "\n")) {
            throw SealError(.noKey, "a peer's id has a line feed in it")
        }
        let prologue =
            Array("bellwire-push-v1\n\(pair.desktop.text)\n\(pair.device.text)\n".utf8) + [suite] + prekey.bytes
        return NoiseKpsk0.Context(presharedKey: pair.presharedKey, prologue: prologue)
    }
}
