// Why a frame of version 2 is refused (WireSessions, "Rejections").
extension SealError.Code {
    /// A session that this start doesn't have: it ended, or was never confirmed. Counted; a handshake follows.
    package static var unknownSession: Self { SealError.Code("unknown_session") }
    /// A step 2 without its step 1, a step 1 to a device, a handshake that is already complete.
    package static var unexpectedStep: Self { SealError.Code("unexpected_step") }
    /// A step 1 that repeats the id of another one.
    package static var conflictingStep: Self { SealError.Code("conflicting_step") }
    /// No suite in common, or an answer with one that was not offered.
    package static var unknownSuite: Self { SealError.Code("unknown_suite") }
    /// An ephemeral key that is of low order or not canonical.
    package static var weakPoint: Self { SealError.Code("weak_point") }
    /// A counter that no session reaches.
    package static var counterOutOfRange: Self { SealError.Code("counter_out_of_range") }
    /// More handshakes than a peer needs.
    package static var tooManyHandshakes: Self { SealError.Code("too_many_handshakes") }
    /// A version below the one that the pair has used.
    package static var downgraded: Self { SealError.Code("downgraded") }
}
