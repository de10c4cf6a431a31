/// The one message of `Noise_Kpsk0_25519_ChaChaPoly_SHA256`, and of no other pattern (Noise specification, sections 5.3, 7.4
/// and 9).
///
/// ```
/// -> s
/// <- s
/// ...
/// -> psk, e, es, ss
/// ```
/// Each side knows the other's static key before. Whoever opens a message knows that the sender's static key, or the
/// receiver's, made it. The receiver's static key, or the ephemeral one, is needed to read it, and the preshared key.
package enum NoiseKpsk0 {
    package static let protocolName = "Noise_Kpsk0_25519_ChaChaPoly_SHA256"
    /// What a message is longer than its payload.
    package static let overhead = AgreementPublicKey.byteCount + NoiseFunctions.tagByteCount

    /// What both sides must agree on.
    package struct Context: Sendable {
        package let presharedKey: PresharedKey
        package let prologue: [UInt8]

        package init(presharedKey: PresharedKey, prologue: [UInt8]) {
            self.presharedKey = presharedKey
            self.prologue = prologue
        }
    }

    /// - Parameter ephemeral: a new key, for this message alone.
    ///
    /// Throws `invalid_point`.
    package static func seal(
        _ payload: [UInt8], from sender: AgreementKey, to receiver: AgreementPublicKey, ephemeral: AgreementKey,
        _ context: Context
    ) throws(NoiseError) -> [UInt8] {
        var state = begin(context, sender.publicKey, receiver, ephemeral.publicKey)
        try state.mixAgreement(ephemeral, receiver)
        try state.mixAgreement(sender, receiver)
        return ephemeral.publicKey.bytes + state.encryptAndHash(payload)
    }

    /// Throws `malformed`, `invalid_point`, `forged`.
    package static func open(
        _ message: [UInt8], from sender: AgreementPublicKey, to receiver: AgreementKey, _ context: Context
    ) throws(NoiseError) -> [UInt8] {
        guard message.count >= overhead else { throw NoiseError(.malformed, "the Noise message is too short") }
        let ephemeral = try AgreementPublicKey(bytes: Array(message.prefix(AgreementPublicKey.byteCount)))
        var state = begin(context, sender, receiver.publicKey, ephemeral)
        try state.mixAgreement(receiver, ephemeral)
        try state.mixAgreement(receiver, sender)
        return try state.decryptAndHash(Array(message.dropFirst(AgreementPublicKey.byteCount)))
    }

    /// Through `psk, e`.
    private static func begin(
        _ context: Context, _ sender: AgreementPublicKey, _ receiver: AgreementPublicKey,
        _ ephemeral: AgreementPublicKey
    ) -> SymmetricState {
        var state = SymmetricState(protocolName: protocolName)
        state.mixHash(context.prologue)
        state.mixHash(sender.bytes)
        state.mixHash(receiver.bytes)
        state.mixKeyAndHash(context.presharedKey)
        state.mixHash(ephemeral.bytes)
        state.mixKey(ephemeral.bytes)
        return state
    }
}
