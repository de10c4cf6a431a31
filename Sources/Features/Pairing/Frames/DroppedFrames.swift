import Wire

/// Pairing frames that were dropped, by what was wrong with them. None is ever answered: a guesser learns nothing.
package struct DroppedFrames: Sendable, Equatable {
    /// Not what its type says, or a field that does not hold.
    package var malformed = 0
    package var wrongCode = 0
    /// The relay's `from` is not who the frame says it is of.
    package var wrongSender = 0
    /// Stored by a relay before the offer began, at no known time, or where only live frames count.
    package var stored = 0
    /// Refused by the replay window, where nothing proves them or a peer is paired already.
    package var stale = 0
    /// Nothing is open, or another peer has taken it.
    package var notOpen = 0
    /// Plain, where only a sealed one counts.
    package var notSecure = 0
    /// Sealed, with the right code, by somebody who does not know the secret.
    package var wrongProof = 0
    /// Of a sender that knows the secret and offers versions of the seal, but has seen no offer from this side: it was taken
    /// out on the way.
    package var downgraded = 0
    /// Plain, of a sender that a person has declined already, or after too many of them.
    package var refused = 0

    package init() {}

    package var total: Int {
        malformed &+ wrongCode &+ wrongSender &+ stored &+ stale &+ notOpen &+ notSecure &+ wrongProof &+ downgraded
            &+ refused
    }
}

extension DroppedFrames {
    /// The ack in a frame, when it says the right code, in its sender's own name, after the offer began. Else counts what is
    /// wrong with it.
    mutating func ack(of frame: PairingFrame, code: PairingCode, since start: EpochMilliseconds) -> PairAck? {
        let ack: PairAck
        do throws(PairingFailure) { ack = try PairAck(decoding: frame.payload) } catch {
            malformed &+= 1
            return nil
        }
        guard frame.delivery.isSince(start) else {
            stored &+= 1
            return nil
        }
        guard ack.mobileDID == frame.from else {
            wrongSender &+= 1
            return nil
        }
        guard ack.code == code else {
            wrongCode &+= 1
            return nil
        }
        return ack
    }

    /// The confirmation in a frame, when it says the right code, after the offer began. Else counts what is wrong with it.
    mutating func confirmation(
        of frame: PairingFrame, code: PairingCode, since start: EpochMilliseconds
    ) -> PairingConfirmation? {
        let confirmation: PairingConfirmation
        do throws(PairingFailure) { confirmation = try PairingConfirmation(decoding: frame.payload) } catch {
            malformed &+= 1
            return nil
        }
        guard frame.delivery.isSince(start) else {
            stored &+= 1
            return nil
        }
        guard confirmation.code == code else {
            wrongCode &+= 1
            return nil
        }
        return confirmation
    }

    /// The challenge in a frame, when it says the right code, after the offer began. Else counts what is wrong with it.
    mutating func challenge(
        of frame: PairingFrame, code: PairingCode, since start: EpochMilliseconds
    ) -> PairingChallenge? {
        let challenge: PairingChallenge
        do throws(PairingFailure) { challenge = try PairingChallenge(payload: frame.inner) } catch {
            malformed &+= 1
            return nil
        }
        guard frame.delivery.isSince(start) else {
            stored &+= 1
            return nil
        }
        guard challenge.code == code else {
            wrongCode &+= 1
            return nil
        }
        return challenge
    }

    /// Does a sealed confirmation say in whose name it is sent? Else counts it.
    mutating func names(_ confirmation: PairingConfirmation, senderOf frame: PairingFrame) -> Bool {
        guard confirmation.pcPeerID == frame.from else {
            wrongSender &+= 1
            return false
        }
        return true
    }

    /// Does the frame decline this code, after the offer began? Else counts what is wrong with it.
    mutating func isReject(_ frame: PairingFrame, code: PairingCode, since start: EpochMilliseconds) -> Bool {
        guard frame.delivery.isSince(start) else {
            stored &+= 1
            return false
        }
        guard let reject = try? PairingReject(decoding: frame.payload), reject.code == code else {
            wrongCode &+= 1
            return false
        }
        return true
    }

    /// Why the other side ended the pairing, if the frame is a reject of this code. Else counts what is wrong with it.
    mutating func failure(
        in frame: PairingFrame, code: PairingCode, since start: EpochMilliseconds
    ) -> PairingFailure? {
        guard isReject(frame, code: code, since: start) else { return nil }
        let reject = try? PairingReject(decoding: frame.payload)
        return PairingFailure(reject?.isStoreFailure == true ? .peerStoreFailed : .rejected)
    }
}
