/// A handshake of `Noise_KKpsk2_25519_ChaChaPoly_SHA256`, and of no other pattern (Noise specification, sections 5.3, 7
/// and 9).
///
/// ```
/// -> s
/// <- s
/// ...
/// -> e, es, ss
/// <- e, ee, se, psk
/// ```
/// Each side knows the other's static key before. Both messages carry no payload here but may: 48 bytes and the payload.
package enum NoiseKKpsk2 {
    package static let protocolName = "Noise_KKpsk2_25519_ChaChaPoly_SHA256"
    /// Of a message without its payload.
    package static let messageByteCount = AgreementPublicKey.byteCount + NoiseFunctions.tagByteCount

    /// What a handshake is about. The same on both sides, or it fails.
    package struct Parameters: Sendable {
        package let own: AgreementKey
        package let peer: AgreementPublicKey
        package let presharedKey: PresharedKey
        package let prologue: [UInt8]

        package init(own: AgreementKey, peer: AgreementPublicKey, presharedKey: PresharedKey, prologue: [UInt8]) {
            self.own = own
            self.peer = peer
            self.presharedKey = presharedKey
            self.prologue = prologue
        }
    }

    fileprivate static func begin(
        prologue: [UInt8], initiator: AgreementPublicKey, responder: AgreementPublicKey
    ) -> SymmetricState {
        var state = SymmetricState(protocolName: protocolName)
        state.mixHash(prologue)
        state.mixHash(initiator.bytes)
        state.mixHash(responder.bytes)
        return state
    }

    /// A message's ephemeral key and its encrypted payload.
    fileprivate static func parts(of message: [UInt8]) throws(NoiseError) -> (AgreementPublicKey, [UInt8]) {
        guard message.count >= messageByteCount else { throw NoiseError(.malformed, "the Noise message is too short") }
        let key = try AgreementPublicKey(bytes: Array(message.prefix(AgreementPublicKey.byteCount)))
        return (key, Array(message.dropFirst(AgreementPublicKey.byteCount)))
    }
}

/// The initiator between its message and the answer. Its ephemeral key is wiped with it.
package struct NoiseInitiator {
    /// To be sent: `e, es, ss` and the payload.
    package let message: [UInt8]
    private let state: SymmetricState
    private let parameters: NoiseKKpsk2.Parameters
    private let ephemeral: AgreementKey

    /// - Parameter ephemeral: a new key, for this handshake alone.
    ///
    /// Throws `invalid_point`.
    package init(
        _ parameters: NoiseKKpsk2.Parameters, ephemeral: AgreementKey, payload: [UInt8] = []
    ) throws(NoiseError) {
        let own = parameters.own.publicKey
        var state = NoiseKKpsk2.begin(prologue: parameters.prologue, initiator: own, responder: parameters.peer)
        state.mixHash(ephemeral.publicKey.bytes)
        state.mixKey(ephemeral.publicKey.bytes)
        try state.mixAgreement(ephemeral, parameters.peer)
        try state.mixAgreement(parameters.own, parameters.peer)
        message = ephemeral.publicKey.bytes + state.encryptAndHash(payload)
        self.state = state
        self.parameters = parameters
        self.ephemeral = ephemeral
    }

    /// Reads the answer. A wrong one changes nothing: the right one may still come.
    ///
    /// Throws `malformed`, `invalid_point`, `forged`.
    package func finish(_ answer: [UInt8]) throws(NoiseError) -> (payload: [UInt8], keys: TransportKeys) {
        let (key, encrypted) = try NoiseKKpsk2.parts(of: answer)
        var state = state.copy()
        state.mixHash(key.bytes)
        state.mixKey(key.bytes)
        try state.mixAgreement(ephemeral, key)
        try state.mixAgreement(parameters.own, key)
        state.mixKeyAndHash(parameters.presharedKey)
        let payload = try state.decryptAndHash(encrypted)
        return (payload, TransportKeys(state, isInitiator: true))
    }
}

/// The responder between the initiator's message and its answer.
package struct NoiseResponder {
    /// The payload of the initiator's message. Whoever made it has the initiator's key or ours, but it may be an old one.
    package let payload: [UInt8]
    private let state: SymmetricState
    private let parameters: NoiseKKpsk2.Parameters
    private let initiatorEphemeral: AgreementPublicKey

    /// Reads the initiator's message. Throws `malformed`, `invalid_point`, `forged`.
    package init(_ parameters: NoiseKKpsk2.Parameters, message: [UInt8]) throws(NoiseError) {
        let (key, encrypted) = try NoiseKKpsk2.parts(of: message)
        var state = NoiseKKpsk2.begin(
            prologue: parameters.prologue, initiator: parameters.peer, responder: parameters.own.publicKey)
        state.mixHash(key.bytes)
        state.mixKey(key.bytes)
        try state.mixAgreement(parameters.own, key)
        try state.mixAgreement(parameters.own, parameters.peer)
        payload = try state.decryptAndHash(encrypted)
        self.state = state
        self.parameters = parameters
        initiatorEphemeral = key
    }

    /// The answer, and the keys after it.
    ///
    /// - Parameter ephemeral: a new key, for this handshake alone.
    ///
    /// Throws `invalid_point`.
    package func answer(
        ephemeral: AgreementKey, payload: [UInt8] = []
    ) throws(NoiseError) -> (message: [UInt8], keys: TransportKeys) {
        var state = state.copy()
        state.mixHash(ephemeral.publicKey.bytes)
        state.mixKey(ephemeral.publicKey.bytes)
        try state.mixAgreement(ephemeral, initiatorEphemeral)
        try state.mixAgreement(ephemeral, parameters.peer)
        state.mixKeyAndHash(parameters.presharedKey)
        let message = ephemeral.publicKey.bytes + state.encryptAndHash(payload)
        return (message, TransportKeys(state, isInitiator: false))
    }
}
