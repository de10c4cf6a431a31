import Identity
package import Wire

// MARK: What the relay says

extension RelaySessionStateMachine {
    package enum ReceivedAction: Sendable, Equatable {
        /// Registered: the owner may send.
        case online
        /// Send the registration with a proof over this nonce, or call ``cannotProve(_:now:using:)``.
        case prove(nonce: String, isBound: Bool = true)
        case deliver(LinkEvent)
        /// The relay has lost the registration: send it again. The session goes on.
        case registerAgain(SignallingFrame.Register)
        /// Send this over a second connection that registers nothing, or call ``strangerRefused(now:)``.
        case sendAsStranger(SignallingFrame)
        case sendPong
        /// Close the connection; the next attempt comes at ``deadline``.
        case drop(OfflineReason)
        /// Nothing to do; not an error.
        case ignore
    }

    package mutating func received(
        _ frame: SignallingFrame, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction {
        switch state {
        case .stopped, .suspended, .waiting, .connecting: .ignore
        case .registering(let until, let step):
            receivedWhileRegistering(frame, until: until, step, now: now, using: &generator)
        case .online: receivedWhileOnline(frame, now: now, using: &generator)
        }
    }

    /// No proof can be made for this connection.
    package mutating func cannotProve(
        _ why: String, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction { drop(.proofRefused, why, now: now, using: &generator) }

    private mutating func receivedWhileRegistering(
        _ frame: SignallingFrame, until: UInt64, _ step: ProofStep, now: UInt64,
        using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction {
        switch frame {
        case .challenge(let nonce, let isBound):
            return challenged(nonce, isBound, until: until, step, now: now, using: &generator)
        case .registered(let registered):
            guard registered.peerID == nil || registered.peerID == registration.peerID else {
                return drop(
                    .registrationRefused, "the relay registered the wrong id", now: now, using: &generator)
            }
            state = .online(
                since: now, nextPing: now.advanced(by: Self.keepaliveInterval), isProved: step == .answered)
            beginProbes(step, now: now, using: &generator)
            return .online
        case .error(let refusal):
            let text =
                refusal.text.isEmpty
                ? "the relay refused the registration" : "the relay refused the registration: \(refusal.text)"
            return drop(OfflineReason.Code(refusing: refusal.code), text, now: now, using: &generator)
        case .serverShutdown: return shutDown(now: now, using: &generator)
        case .ping: return .sendPong
        // A relay that delivers before it says `registered` would have its frames lost otherwise.
        case .message, .routed, .offlineMessage, .peerOffline, .peerStatus, .peersList: return event(of: frame)
        case .register, .pong, .other: return .ignore
        }
    }

    /// The relay wants a proof. Each connection makes one, over one well-formed nonce; nothing else is signed for a
    /// relay (Wire, "Proof of an id").
    private mutating func challenged(
        _ nonce: String, _ isBound: Bool, until: UInt64, _ step: ProofStep, now: UInt64,
        using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction {
        switch step {
        case .none: return .ignore
        case .answered:
            return drop(.proofRefused, "the relay asked for a second proof", now: now, using: &generator)
        case .offered:
            guard nonce.utf8.count == Self.nonceLength,
                TextEncoding.base64url.decode(nonce)?.count == RegistrationProof.nonceByteCount
            else { return drop(.proofRefused, "the relay's challenge is malformed", now: now, using: &generator) }
            state = .registering(until: until, .answered)
            return .prove(nonce: nonce, isBound: isBound)
        }
    }

    /// Of 32 bytes in base64url.
    private static let nonceLength = 43

    private mutating func receivedWhileOnline(
        _ frame: SignallingFrame, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction {
        switch frame {
        case .error(let refusal):
            budget.refused(refusal.code)
            return .deliver(.refused(refusal.text))
        case .serverShutdown: return shutDown(now: now, using: &generator)
        case .ping: return .sendPong
        case .message, .routed, .offlineMessage, .peerOffline, .peerStatus, .peersList:
            return ofProbe(frame, now: now, using: &generator) ?? event(of: frame)
        case .register, .registered, .challenge, .pong, .other: return .ignore
        }
    }

    private mutating func beginProbes(
        _ step: ProofStep, now: UInt64, using generator: inout some RandomNumberGenerator
    ) {
        guard step == .offered else { return probes = nil }
        let memory = probes?.absence.memory ?? AbsenceProbe.Memory(using: &generator)
        probes = Probes(
            registration: RegistrationProbe(of: registration.peerID, registeredAt: now),
            absence: AbsenceProbe(memory, registeredAt: now),
            sender: SenderProbe(
                probes?.sender.memory ?? SenderProbe.Memory(using: &generator), registeredAt: now))
        if probes?.sender.isAsking == true { budget.forget() }
    }

    /// The probe to send right after the registration; `nil` = none.
    package mutating func senderProbe(
        now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> SignallingFrame? {
        probes?.sender.begin(to: registration.peerID, now: now, using: &generator)
    }

    /// The relay refused what a connection sent that has registered nothing, or that connection, or it ended.
    ///
    /// - Parameter code: of the relay's error.
    package mutating func strangerRefused(_ code: String? = nil, now: UInt64) -> ReceivedAction {
        budget.refused(code)
        let action = probes?.sender.strangerRefused(now: now)
        return received(action)
    }

    /// Called only after the probe has changed: what it shows is told with the event.
    private func received(_ action: SenderProbe.Action?) -> ReceivedAction {
        switch action {
        case .sendAsStranger(let frame): .sendAsStranger(frame)
        case .changed: .deliver(.senderNaming(senderNaming))
        case .some(.none), nil: .ignore
        }
    }

    /// A probe of the relay's senders came, live or stored.
    private mutating func cameBack(
        _ message: SignallingFrame.Message, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction {
        let action = probes?.sender.cameBack(
            message.payload, from: message.from, to: registration.peerID, now: now, using: &generator)
        return received(action)
    }

    /// What a frame tells the probes; `nil` = it is not about them.
    private mutating func ofProbe(
        _ frame: SignallingFrame, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction? {
        switch frame {
        case .peerOffline(let offline):
            if let action = probes?.absence.reportedAbsent(offline.peerID, now: now) {
                return action == .changed ? .deliver(.absenceReporting(absenceReporting)) : .ignore
            }
            guard offline.peerID == registration.peerID, probes != nil else { return nil }
            let verdict = probes?.registration.reportedAbsent(now: now)
            return verdict == .register ? .registerAgain(registration) : .ignore
        case .message(let message) where isSenderProbe(message): return cameBack(message, now: now, using: &generator)
        case .message(let message) where isOwnProbe(message):
            probes?.registration.cameBack(message.payload)
            return .ignore
        case .message, .routed:
            probes?.registration.heard(now: now, using: &generator)
            return nil
        case .offlineMessage(let stored):
            guard case .message(let message) = stored.original, isSenderProbe(message) else { return nil }
            return cameBack(message, now: now, using: &generator)
        case .peerStatus, .peersList, .register, .registered, .challenge, .ping, .pong, .error, .serverShutdown,
            .other:
            return nil
        }
    }

    /// Whether it is a probe of ours, of any connection. One relay leaves `from` as the sender wrote it.
    private func isOwnProbe(_ message: SignallingFrame.Message) -> Bool {
        registration.bellwire != nil && (message.from ?? registration.peerID) == registration.peerID
            && RegistrationProbe.isProbe(message.payload)
    }

    /// Whoever it is from: where senders name themselves, it bears a name of ours.
    private func isSenderProbe(_ message: SignallingFrame.Message) -> Bool {
        registration.bellwire != nil && SenderProbe.isProbe(message.payload)
    }

    /// The event for a frame. A stored frame is unwrapped, and its event has the time of storing.
    private func event(of frame: SignallingFrame) -> ReceivedAction {
        switch frame {
        case .message(let message): deliver(message, .live)
        case .routed(let routed): .deliver(.routed(routed, delivery: .live))
        case .offlineMessage(let stored):
            switch stored.original {
            case .message(let message): deliver(message, .stored(at: stored.storedAt))
            case .routed(let routed): .deliver(.routed(routed, delivery: .stored(at: stored.storedAt)))
            }
        case .peerOffline(let offline): .deliver(.peerOffline(offline.peerID))
        case .peerStatus(let status):
            .deliver(.peerStatus(status.peerID, isOnline: status.isOnline, info: status.deviceInfo))
        case .peersList(let peers): .deliver(.peers(peers))
        case .register, .registered, .challenge, .ping, .pong, .error, .serverShutdown, .other: .ignore
        }
    }

    private func deliver(_ message: SignallingFrame.Message, _ delivery: SignallingDelivery) -> ReceivedAction {
        // A relay that had lost us has stored our probe.
        if isOwnProbe(message) || isSenderProbe(message) { return .ignore }
        guard let from = message.from else {
            return .deliver(
                .malformed(SignallingFrameError(.missingField, "a \"message\" frame came without a usable \"from\"")))
        }
        return .deliver(
            .message(
                PeerMessage(
                    from: from, payload: message.payload, timestamp: message.timestamp, delivery: delivery,
                    isSealed: message.isSealed)))
    }
}

extension OfflineReason.Code {
    /// By the name that a relay of ours gives its refusal.
    fileprivate init(refusing code: String?) {
        switch code {
        case "id_taken": self = .idTaken
        case "bad_proof", "bad_nonce", "bad_origin", "unprovable", "proof_required": self = .proofRefused
        default: self = .registrationRefused
        }
    }
}
