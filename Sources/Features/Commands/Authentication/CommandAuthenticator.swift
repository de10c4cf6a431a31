import JSON
package import Wire

/// The desktop's check of who sends a command. It matters for devices that were paired without a seal.
///
/// Deployed phones send three forms: no signature (`{mobileDid}` from iOS, `{did}` from Android), one over
/// `method:timestamp:nonce`, or one over the JSON form. The identity is the relay-written sender, which is the paired
/// DID. A signature that can be verified must be valid (WireMessages, "Authentication").
package struct CommandAuthenticator: Sendable {
    private var nonces: NonceTable

    /// ±5 minutes between the device's clock and ours.
    package static let tolerance: EpochMilliseconds = 5 * 60 * 1_000
    private static let nonceLimit = 256

    /// - Parameter nonceLimit: how many used nonces are kept, for all devices.
    package init(nonceLimit: Int = 65_536) { nonces = NonceTable(limit: nonceLimit) }

    /// What a signature turned out to be.
    package enum Signature: Sendable, Hashable {
        case valid
        case invalid
        /// The DID holds no key: some deployed phones write malformed ones.
        case unverifiable
    }

    package enum Verdict: Sendable, Equatable {
        /// Known by the relay's word alone.
        case unsigned
        case signed
        /// Answer with this, and do nothing.
        case refused(RemoteError)
    }

    /// - Parameters:
    ///   - device: the `from` that the relay wrote, which is the id of a paired device.
    ///   - now: this desktop's clock, in epoch milliseconds.
    ///   - monotonic: milliseconds that never jump, for the nonces.
    ///   - isSealed: the request came in a seal, which already keeps old ones out: the two clocks need not agree.
    ///   - verify: checks a base64 signature over a message with the key in `did`.
    package mutating func check(
        _ request: CommandRequest, from device: PeerID, now: EpochMilliseconds, monotonic: UInt64,
        isSealed: Bool = false,
        verify: (_ message: [UInt8], _ signature: String, _ did: PeerID) -> Signature
    ) -> Verdict {
        let auth = request.auth ?? [:]
        for field in ["mobileDid", "did"] {
            guard let value = auth[field], !value.isNull else { continue }
            guard value.string == device.text else { return refuse("auth.\(field) is not the sender") }
        }
        guard let given = auth["signature"], !given.isNull, given != "" else { return .unsigned }
        guard let signature = given.string else { return refuse("auth.signature is not a string") }
        guard let timestamp = auth["timestamp"]?.integer else { return refuse("auth.timestamp is missing") }
        guard let nonce = auth["nonce"]?.string, !nonce.isEmpty, nonce.utf8.count <= CommandAuthenticator.nonceLimit
        else { return refuse("auth.nonce is missing or too long") }

        let messages = [
            CommandAuth.message(method: request.method, timestamp: timestamp, nonce: nonce),
            CommandAuth.textMessage(method: request.method, timestamp: timestamp, nonce: nonce),
        ]
        switch CommandAuthenticator.first(of: messages, signature, device, verify) {
        case .unverifiable: return .unsigned
        case .invalid: return refuse("the signature does not verify")
        case .valid: break
        }
        let (age, overflow) = now.subtractingReportingOverflow(timestamp)
        guard isSealed || (!overflow && age.magnitude <= CommandAuthenticator.tolerance.magnitude) else {
            return refuse("auth.timestamp differs by more than 5 minutes; check both clocks")
        }
        guard nonces.use(nonce, by: device, monotonic: monotonic) else { return refuse("auth.nonce was used before") }
        return .signed
    }

    private static func first(
        of messages: [[UInt8]], _ signature: String, _ device: PeerID,
        _ verify: ([UInt8], String, PeerID) -> Signature
    ) -> Signature {
        for message in messages {
            switch verify(message, signature, device) {
            case .valid: return .valid
            case .unverifiable: return .unverifiable
            case .invalid: continue
            }
        }
        return .invalid
    }

    private func refuse(_ message: String) -> Verdict { .refused(RemoteError(.permissionDenied, message)) }
}
