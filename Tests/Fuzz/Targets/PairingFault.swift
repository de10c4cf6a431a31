/// What is checked of every pairing flow; each is a finding if it is not so.
enum PairingCheck: String, CaseIterable, Sendable {
    case timerLength = "a timer of no time, or of more than five minutes"
    case stepWithoutLimit = "a step without a limit"
    case timerKept = "a timer is kept"
    case endless = "a flow that never ends"
    case pairedAsEncrypted = "a peer that doesn't know the secret is paired as encrypted"
    case pairedUnasked = "a peer without a proof is paired, and nobody has accepted it"
    case proofForStranger = "a proof or a greeting for a peer that has no proof"
    case sealAndProof = "a proof in plain text, or a seal without one"
    case guessConfirmed = "a wrong guess is confirmed"
    case fourthGuess = "more than three guesses at one code"
}

/// A fault of a machine, played at its edges. With it, a check must fail; a check that can't proves nothing.
struct PairingFault: Sendable {
    enum Kind: Sendable {
        /// Proofs, digits and seals are not checked: the hostile peer has all of them.
        case proofs
        /// The user is not asked.
        case unasked
        /// A timer is never started, started with no time, never stopped, or has no effect.
        case noTimer, noTime, timerKept, endless
        /// Proofs go out unsealed, and others sealed.
        case plainProofs
        /// Guesses are counted on over a new code.
        case guesses
    }

    let kind: Kind
    /// Checks that a machine passes before it comes to the one in question.
    var past: Set<PairingCheck> = []
}

extension PairingWorld {
    func checkSeal(_ isSealed: Bool, hasProof: Bool) throws {
        try require((fault?.kind == .plainProofs) != (isSealed == hasProof), .sealAndProof)
    }

    /// Guesses at six digits, none of them right unless nobody checks.
    func digits(unlike password: String) -> [String] {
        fault?.kind == .proofs ? [password] : ["000000", "789013", ""]
    }
}
