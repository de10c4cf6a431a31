package import JSON
package import Wire

/// Finds out whether a relay still has our registration (WireDeployedRelays, "Lost registrations").
///
/// Some relays remove an id when an older connection that had it ends. The probe is a message to ourselves: it comes
/// back while we are registered, and is answered by `peer-offline` for our own id when we are not. Only that answer
/// leads to another registration, because one relay closes a connection that registers while it is registered.
///
/// A registration that is lost while it is watched is found within ``watchInterval`` and a round trip, whenever that
/// happens; later, within one application ping more, until ``pingedTime``.
///
/// A pure state machine for one registration; times are monotonic milliseconds.
package struct RegistrationProbe: Sendable, Equatable {
    /// After a registration: an older connection that still works has ended by now.
    package static let firstDelay: UInt64 = 2_000
    /// Between two probes while the registration is watched, unless something else shows that we are registered.
    package static let watchInterval: UInt64 = 5_000
    /// How long it is watched: relays end older connections that no longer work within 60 s.
    package static let watchTime: UInt64 = 70_000
    /// After the registration: until now each application ping has its probe, for relays that take longer than that.
    package static let pingedTime: UInt64 = 180_000
    /// Between two later probes, unless something else shows that we are registered. Drawn anew each time.
    package static let interval: ClosedRange<UInt64> = 240_000...360_000
    /// How often it registers again without a probe that comes back.
    package static let maximumRepeats = 3
    /// The type of the payload, which no peer reads.
    package static let type = "bellwire:probe"
    /// Probes without an answer that are remembered: what fits in the 35 s that a connection without a pong lasts.
    private static let maximumUnanswered = 8

    package enum Verdict: Sendable, Equatable {
        /// The relay has lost us: register again on this connection.
        case register
        case none
    }

    private enum Stage: Sendable, Equatable {
        case first(at: UInt64)
        case watching(at: UInt64)
        /// Waits for the next application ping, so that an idle device isn't woken once more.
        case withPing(after: UInt64)
    }

    private let id: PeerID
    private let registeredAt: UInt64
    private var stage: Stage
    /// The probes without an answer, the oldest first. A relay answers in order.
    private var unanswered: [UInt64] = []
    /// Answers to probes that were sent before we registered again.
    private var outdated = 0
    /// Registrations since a probe came back.
    private var repeats = 0

    package init(of id: PeerID, registeredAt now: UInt64) {
        self.id = id
        registeredAt = now
        stage = .first(at: now.advanced(by: Self.firstDelay))
    }

    /// When the next probe is due.
    ///
    /// - Parameter pingedAt: when the last application ping was sent, or the registration came.
    package func deadline(pingedAt: UInt64) -> UInt64? {
        switch stage {
        case .first(let at), .watching(let at): at
        case .withPing(let after): after <= pingedAt ? after : nil
        }
    }

    /// The frame to send now.
    package mutating func next(now: UInt64, using generator: inout some RandomNumberGenerator) -> SignallingFrame {
        let nonce = UInt64.random(in: .min ... .max, using: &generator)
        if unanswered.count == Self.maximumUnanswered { unanswered.removeFirst() }
        unanswered.append(nonce)
        stage = stage(after: now, using: &generator)
        return .message(Self.message(to: id, from: id, nonce: nonce))
    }

    /// A live message for us came that is no probe, so we are registered.
    package mutating func heard(now: UInt64, using generator: inout some RandomNumberGenerator) {
        switch stage {
        case .first: break
        case .watching, .withPing: stage = stage(after: now, using: &generator)
        }
    }

    /// A live probe came back.
    package mutating func cameBack(_ payload: JSONValue) {
        guard let nonce = Self.nonce(of: payload), let index = unanswered.firstIndex(of: nonce) else { return }
        unanswered.removeFirst(index + 1)
        outdated = 0
        repeats = 0
    }

    /// The relay reports us absent.
    package mutating func reportedAbsent(now: UInt64) -> Verdict {
        if outdated > 0 {
            outdated -= 1
            return .none
        }
        guard !unanswered.isEmpty else { return .none }
        outdated = unanswered.count - 1
        unanswered = []
        guard repeats < Self.maximumRepeats else { return .none }
        repeats += 1
        // Whether that has helped; later each time.
        stage = .first(at: now.advanced(by: Self.firstDelay << UInt64(2 * repeats - 2)))
        return .register
    }

    /// We are registered now, or have just asked.
    private func stage(after now: UInt64, using generator: inout some RandomNumberGenerator) -> Stage {
        if now < registeredAt.advanced(by: Self.watchTime) {
            return .watching(at: now.advanced(by: Self.watchInterval))
        }
        if now < registeredAt.advanced(by: Self.pingedTime) {
            return .withPing(after: now.advanced(by: Self.watchInterval))
        }
        return .withPing(after: now.advanced(by: UInt64.random(in: Self.interval, using: &generator)))
    }

    // MARK: Frames

    static func message(to id: PeerID, from own: PeerID, nonce: UInt64) -> SignallingFrame.Message {
        SignallingFrame.Message(
            to: id, from: own, payload: ["type": .string(type), "payload": ["nonce": .string(text(of: nonce))]])
    }

    static func isProbe(_ payload: JSONValue) -> Bool { payload["type"]?.string == type }

    private static func nonce(of payload: JSONValue) -> UInt64? {
        (payload["payload"]?["nonce"]?.string).flatMap { UInt64($0, radix: 16) }
    }

    private static func text(of nonce: UInt64) -> String { String(nonce, radix: 16) }
}
