import Identity

/// A handshake that the device has begun and the desktop has not answered.
struct InitiatedHandshake {
    let frame: HandshakeFrame.Initiation
    private let noise: NoiseInitiator
    private let begin: UInt64
    private var lastSent: UInt64
    private var repetitions = 0

    /// Throws `no_key`, `weak_point`.
    init(_ pair: SessionPair, _ seed: SessionSeed, _ now: UInt64) throws(SealError) {
        let suites = SessionSuite.supported
        let parameters = try pair.parameters(seed.id, suites)
        do throws(NoiseError) { noise = try NoiseInitiator(parameters, ephemeral: seed.ephemeral) } catch {
            throw SealError(error)
        }
        frame = HandshakeFrame.Initiation(id: seed.id, suites: suites, noise: noise.message)
        begin = now
        lastSent = now
    }

    /// A wrong answer changes nothing: the right one may still come. Throws `unknown_suite`, `weak_point`, `forged`,
    /// `malformed`.
    func finish(_ answer: HandshakeFrame.Answer, _ now: UInt64) throws(SealError) -> Session {
        guard frame.suites.contains(answer.suite) else {
            throw SealError(.unknownSuite, "the desktop answers with a suite that was not offered")
        }
        do throws(NoiseError) {
            let keys = try noise.finish(answer.noise).keys
            return Session(id: frame.id, keys: keys, isInitiator: true, begin: now)
        } catch {
            guard error.code != .forged else { throw SealError(.forged, Self.refused) }
            throw SealError(error)
        }
    }

    /// For people: the relay may have made the answer, or the two sides keep different preshared keys.
    private static let refused =
        "a handshake's answer was made with another key or another preshared key; if this repeats, pair again"

    mutating func repeated(_ now: UInt64) {
        repetitions += 1
        lastSent = now
    }

    /// `nil` = it was repeated often enough.
    func nextRepetition(_ limits: SessionLimits) -> UInt64? {
        guard repetitions < limits.repetitions else { return nil }
        return lastSent + limits.repetition << UInt64(min(repetitions, 16))
    }

    func isOver(_ now: UInt64, _ limits: SessionLimits) -> Bool { begin + limits.pending <= now }

    func deadline(_ limits: SessionLimits) -> UInt64 {
        min(nextRepetition(limits) ?? .max, begin + limits.pending)
    }
}

/// A handshake that the desktop has answered and the device has not confirmed.
struct AnsweredHandshake {
    let initiation: HandshakeFrame.Initiation
    let frame: HandshakeFrame.Answer
    let session: Session
    let begin: UInt64

    /// Throws `no_key`, `weak_point`, `forged`, `malformed`.
    init(
        _ pair: SessionPair, _ initiation: HandshakeFrame.Initiation, _ ephemeral: AgreementKey, _ now: UInt64
    ) throws(SealError) {
        let parameters = try pair.parameters(initiation.id, initiation.suites)
        do throws(NoiseError) {
            let (message, keys) = try NoiseResponder(parameters, message: initiation.noise).answer(ephemeral: ephemeral)
            frame = HandshakeFrame.Answer(id: initiation.id, suite: .x25519, noise: message)
            session = Session(id: initiation.id, keys: keys, isInitiator: false, begin: now)
        } catch {
            throw SealError(error)
        }
        self.initiation = initiation
        begin = now
    }
}

extension SealError {
    fileprivate init(_ error: NoiseError) {
        switch error.code {
        case .invalidPoint: self.init(.weakPoint, "a handshake's ephemeral key is not a valid point")
        case .forged: self.init(.forged, "a handshake was modified, or was made with other keys")
        default: self.init(.malformed, "a handshake's message has the wrong length")
        }
    }
}
