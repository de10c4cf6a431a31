package import JSON
package import Wire

/// Detects whether a relay passes on a `from` without checking it (WireDeployedRelays, "Forged senders").
///
/// After a registration it sends a message to ourselves that names an invented sender. If that name comes back, anyone
/// can send in another peer's name. If the relay has written our own id, a second connection, which registers nothing,
/// sends the same: one relay believes only those who haven't registered. No answer shows nothing.
///
/// A pure state machine; times are monotonic milliseconds.
package struct SenderProbe: Sendable, Equatable {
    /// How long a relay has for each of the two. A name that comes back later still counts.
    package static let answerTime: UInt64 = 2_000
    /// How long a finding holds for later registrations.
    package static let findingLifetime: UInt64 = 1_800_000
    /// The type of the payload, which no peer reads.
    package static let type = "bellwire:sender-probe"

    /// What remains for the next registration.
    package struct Memory: Sendable, Equatable {
        /// Only a relay that believes senders can name it to us, because nobody else knows it.
        let sender: PeerID
        var naming = SenderNaming.unknown
        var foundAt: UInt64 = 0

        /// With a random name.
        init(using generator: inout some RandomNumberGenerator) {
            let parts = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 16) }
            self.init(sender: PeerID("bellwire-probe:" + parts.joined(separator: ":")))
        }

        init(sender: PeerID) { self.sender = sender }
    }

    private enum State: Sendable, Equatable {
        case unsent
        /// Over our own connection.
        case asked(nonce: UInt64, until: UInt64)
        /// Over a connection that has registered nothing.
        case askedAsStranger(nonce: UInt64, until: UInt64)
        case known
    }

    package private(set) var memory: Memory
    private var state: State

    package init(_ memory: Memory, registeredAt now: UInt64) {
        self.memory = memory
        let holds = memory.naming != .unknown && now < memory.foundAt.advanced(by: Self.findingLifetime)
        state = holds ? .known : .unsent
        // A relay that is known to believe senders does so until a new probe says otherwise.
        if !holds, memory.naming == .byRelay { self.memory.naming = .unknown }
    }

    package var result: SenderNaming { memory.naming }

    /// Whether it has yet to find out, or just now does.
    package var isAsking: Bool { state != .known }

    /// Whether the connection that registers nothing is still needed.
    package var needsStranger: Bool { if case .askedAsStranger = state { true } else { false } }

    package var deadline: UInt64? {
        switch state {
        case .unsent, .known: nil
        case .asked(_, let until), .askedAsStranger(_, let until): until
        }
    }

    package enum Action: Sendable, Equatable {
        /// Send this over a connection that has registered nothing, or call ``strangerRefused(now:)``.
        case sendAsStranger(SignallingFrame)
        /// ``result`` has changed.
        case changed
        case none
    }

    /// The frame to send once registered; `nil` = there is nothing to find out.
    package mutating func begin(
        to own: PeerID, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> SignallingFrame? {
        guard case .unsent = state else { return nil }
        let nonce = UInt64.random(in: .min ... .max, using: &generator)
        state = .asked(nonce: nonce, until: now.advanced(by: Self.answerTime))
        return frame(to: own, nonce)
    }

    package mutating func deadlineReached(now: UInt64) -> Action {
        guard let deadline, deadline <= now else { return .none }
        // Silence shows nothing: what was found before holds.
        return found(memory.naming == .bySender ? .bySender : .byRelay, now: now)
    }

    /// A probe came to us, live or stored, with this `from`.
    package mutating func cameBack(
        _ payload: JSONValue, from: PeerID?, to own: PeerID, now: UInt64,
        using generator: inout some RandomNumberGenerator
    ) -> Action {
        if from == memory.sender { return found(.bySender, now: now) }
        switch (state, Self.nonce(of: payload)) {
        case (.asked(let nonce, _), let given) where given == nonce:
            let next = UInt64.random(in: .min ... .max, using: &generator)
            state = .askedAsStranger(nonce: next, until: now.advanced(by: Self.answerTime))
            return .sendAsStranger(frame(to: own, next))
        case (.askedAsStranger(let nonce, _), let given) where given == nonce: return found(.byRelay, now: now)
        case (.unsent, _), (.asked, _), (.askedAsStranger, _), (.known, _): return .none
        }
    }

    /// The relay doesn't take the message from a connection that has registered nothing.
    package mutating func strangerRefused(now: UInt64) -> Action {
        needsStranger ? found(.byRelay, now: now) : .none
    }

    private mutating func found(_ naming: SenderNaming, now: UInt64) -> Action {
        state = .known
        memory.foundAt = now
        guard memory.naming != naming else { return .none }
        memory.naming = naming
        return .changed
    }

    // MARK: Frames

    static func isProbe(_ payload: JSONValue) -> Bool { payload["type"]?.string == type }

    private func frame(to own: PeerID, _ nonce: UInt64) -> SignallingFrame {
        .message(
            SignallingFrame.Message(
                to: own, from: memory.sender,
                payload: [
                    "type": .string(Self.type), "payload": ["nonce": .string(String(nonce, radix: 16))],
                ]))
    }

    private static func nonce(of payload: JSONValue) -> UInt64? {
        (payload["payload"]?["nonce"]?.string).flatMap { UInt64($0, radix: 16) }
    }
}
