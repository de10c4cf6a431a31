import Hosting
import JSON
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

/// A payload as it came, opened where it was sealed.
struct Incoming {
    let from: PeerID
    let payload: JSONValue
    let delivery: SignallingDelivery
    /// To be saved with what the payload brings about; `nil` = it came in plain text.
    let mark: SealMark?
    /// By the sender's clock; it informs, and decides nothing.
    var sealedAt: EpochMilliseconds?

    var isSealed: Bool { mark != nil }
}

// What is sealed goes out sealed anew each time, and comes in once (protocol.md 4.2).
extension DeviceCore {
    /// Opens what is sealed. `nil` = dropped, and counted.
    func open(_ message: RelayMessage) -> Incoming? {
        guard let object = message.payload.object, object["type"]?.string == SealedEnvelope.type else {
            return Incoming(from: message.from, payload: message.payload, delivery: message.delivery, mark: nil)
        }
        guard desktops.contains(where: { $0.address == message.from && $0.isSecure }) || mayBePairing else {
            counters.unknownSenders &+= 1
            return nil
        }
        do throws(SealError) {
            let opened = try sealer.open(object, from: message.from)
            return Incoming(
                from: message.from, payload: .object(opened.body), delivery: message.delivery, mark: opened.mark,
                sealedAt: opened.timestamp)
        } catch {
            // Counted by the sealer, by kind.
            channel.log(.warning, "a sealed frame was dropped: \(error.message)")
            return nil
        }
    }

    /// To a peer that is paired, in the way in which it was paired.
    func send(_ payload: JSONValue, to desktop: PairedDesktop, over link: RelayConnection) -> SendResult {
        send(payload, to: desktop.address, sealed: desktop.isSecure, over: link)
    }

    func send(_ payload: JSONValue, to peer: PeerID, sealed: Bool, over link: RelayConnection?) -> SendResult {
        guard let link else { return .offline }
        guard sealed else { return link.send(to: peer, payload: payload) }
        guard link.state.isOnline, let body = payload.object else { return .offline }
        do throws(SealError) {
            return link.send(to: peer, payload: .object(try sealer.seal(body, to: peer, now: .now)), sealed: true)
        } catch {
            channel.log(.warning, "a frame could not be sealed: \(error.message)")
            return .tooLarge
        }
    }

    /// A frame has an effect once: what it brings about comes after it was recorded. Plain ones are not recorded.
    func once(
        _ mark: SealMark?, countsReplay: Bool = true, then: @escaping @Sendable @EventLoop (DeviceCore) -> Void
    ) {
        guard let mark else { return then(self) }
        store { (connection) throws(StoreError) in
            try SealStates(connection).save(mark)
        } then: { core, result in
            switch result {
            case .success(true): then(core)
            case .success(false): if countsReplay { core.counters.replayed &+= 1 }
            case .failure(let error):
                guard error.code != .closed else { return }
                core.channel.problem("store_failed", "what a desktop sent was dropped: \(error.message)")
            }
        }
    }

    /// A frame that has no effect.
    func save(_ mark: SealMark?) { once(mark) { _ in } }
}
