/// One side's part of a run, before it knows the other's share.
struct CPaceRun: Sendable {
    /// As it stands in the frames, base64url.
    let session: String
    let sessionBytes: [UInt8]
    let share: [UInt8]
    private let scalar: SecretBytes

    /// - Parameter randomness: 32 bytes for the scalar. The caller wipes them.
    init(password: String, channel: String, session: String, randomness: [UInt8]) throws(CPaceError) {
        guard session.utf8.count <= 32, let bytes = TextEncoding.base64url.decode(session),
            bytes.count == CPaceFunctions.sessionByteCount
        else { throw CPaceError(.invalidSession, "the session id is not 16 bytes in base64url") }
        var secret = Array(password.utf8)
        defer { Identity.wipe(&secret) }
        guard let scalar = CPaceFunctions.scalar(randomness),
            let generator = CPaceFunctions.generator(
                password: secret, channel: Array(channel.utf8), session: bytes),
            let share = CPaceFunctions.multiply(scalar, generator: generator)
        else { throw CPaceError(.noRandomness, "the given randomness is not a valid secret scalar") }
        self.session = session
        self.sessionBytes = bytes
        self.share = share
        self.scalar = scalar
    }

    /// The secret point with the other's share.
    func point(with text: String) throws(CPaceError) -> (point: SecretBytes, share: [UInt8]) {
        guard text.utf8.count <= 64, let other = TextEncoding.base64url.decode(text), other != share,
            let point = CPaceFunctions.multiplyVerified(scalar, share: other)
        else { throw CPaceError(.invalidShare, "the CPace share is not a valid point") }
        return (point, other)
    }

    /// Randomness for a scalar. The caller wipes it.
    static func scalar(using generator: inout some RandomNumberGenerator) -> [UInt8] {
        bytes(CPaceFunctions.scalarByteCount, using: &generator)
    }

    static func bytes(_ count: Int, using generator: inout some RandomNumberGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for _ in 0..<count { bytes.append(UInt8(truncatingIfNeeded: generator.next())) }
        return bytes
    }
}

/// The device's side of a typed code: it begins (WirePairing, "Agreeing on a key").
///
/// ```swift
/// let run = try CPaceInitiator(password: lastSix, alias: alias, deviceID: did, using: &generator)
/// // step 1: run.sid, run.share; and when step 2 came:
/// let key = try run.finish(desktopID: did, share: share)
/// // step 3: key.confirmation(of: .device); in step 4: key.verifies(confirm, of: .desktop)
/// ```
/// It may be copied, and is of use once: a second share gets a second run.
package struct CPaceInitiator: Sendable {
    private let run: CPaceRun
    private let deviceID: String

    /// - Parameters:
    ///   - password: the last six digits, which never leave this machine.
    ///   - alias: whole, with its `pairing-code:`.
    ///   - mark: the last bytes of the session id, at most eight; the others are random. The key covers them: the other side
    ///     can read from them what this one can do, and nobody changes them.
    ///   - generator: ``SecureRandomNumberGenerator``; another one only in tests.
    package init(
        password: String, alias: String, deviceID: String, mark: [UInt8] = [],
        using generator: inout some RandomNumberGenerator
    ) throws(CPaceError) {
        let mark = mark.prefix(8)
        let session = TextEncoding.base64url.encode(
            CPaceRun.bytes(CPaceFunctions.sessionByteCount - mark.count, using: &generator) + mark)
        var scalar = CPaceRun.scalar(using: &generator)
        defer { Identity.wipe(&scalar) }
        try self.init(password: password, alias: alias, deviceID: deviceID, session: session, randomness: scalar)
    }

    init(
        password: String, alias: String, deviceID: String, session: String, randomness: [UInt8]
    ) throws(CPaceError) {
        run = try CPaceRun(password: password, channel: alias, session: session, randomness: randomness)
        self.deviceID = deviceID
    }

    /// base64url, as in the frames.
    package var sid: String { run.session }
    /// base64url, as in step 1.
    package var share: String { TextEncoding.base64url.encode(run.share) }

    /// With what step 2 said. Throws `invalid_share`, `same_peer`.
    package func finish(desktopID: String, share: String) throws(CPaceError) -> CPaceKey {
        guard !desktopID.utf8.elementsEqual(deviceID.utf8) else {
            throw CPaceError(.samePeer, "both sides have the same id")
        }
        let (point, other) = try run.point(with: share)
        let transcript = CPaceFunctions.transcript(
            initiator: (run.share, Array(deviceID.utf8)), responder: (other, Array(desktopID.utf8)))
        guard let key = CPaceFunctions.sessionKey(session: run.sessionBytes, point: point, transcript: transcript)
        else { throw CPaceError(.invalidShare, "the CPace share is not a valid point") }
        return CPaceKey(key, session: run.session)
    }
}

/// The desktop's side of a typed code: it answers step 1, and then has its key (WirePairing, "Agreeing on a key").
package struct CPaceResponder: Sendable {
    /// base64url, as in step 2.
    package let share: String
    /// base64url, as step 1 said it.
    package let sid: String
    package let key: CPaceKey

    /// - Parameters:
    ///   - password: the last six digits, which never leave this machine.
    ///   - alias: whole, with its `pairing-code:`.
    ///   - sid: of step 1, as are `deviceID` and `deviceShare`.
    ///   - generator: ``SecureRandomNumberGenerator``; another one only in tests.
    ///
    /// Throws `invalid_session`, `invalid_share`, `same_peer`.
    package init(
        password: String, alias: String, sid: String, deviceID: String, deviceShare: String, desktopID: String,
        using generator: inout some RandomNumberGenerator
    ) throws(CPaceError) {
        var scalar = CPaceRun.scalar(using: &generator)
        defer { Identity.wipe(&scalar) }
        try self.init(
            password: password, alias: alias, sid: sid, deviceID: deviceID, deviceShare: deviceShare,
            desktopID: desktopID, randomness: scalar)
    }

    init(
        password: String, alias: String, sid: String, deviceID: String, deviceShare: String, desktopID: String,
        randomness: [UInt8]
    ) throws(CPaceError) {
        guard !desktopID.utf8.elementsEqual(deviceID.utf8) else {
            throw CPaceError(.samePeer, "both sides have the same id")
        }
        // Before anything is computed: shares that are none cost next to nothing.
        guard deviceShare.utf8.count <= 64, let bytes = TextEncoding.base64url.decode(deviceShare),
            CPaceFunctions.isPoint(bytes)
        else {
            throw CPaceError(.invalidShare, "the CPace share is not a valid point")
        }
        let run = try CPaceRun(password: password, channel: alias, session: sid, randomness: randomness)
        let (point, other) = try run.point(with: deviceShare)
        let transcript = CPaceFunctions.transcript(
            initiator: (other, Array(deviceID.utf8)), responder: (run.share, Array(desktopID.utf8)))
        guard let key = CPaceFunctions.sessionKey(session: run.sessionBytes, point: point, transcript: transcript)
        else { throw CPaceError(.invalidShare, "the CPace share is not a valid point") }
        self.share = TextEncoding.base64url.encode(run.share)
        self.sid = sid
        self.key = CPaceKey(key, session: sid)
    }
}
