import Hosting
import JSON
import Pairing
import Sealing
import Signalling
import Store
import Synchronization
import Transport
import Wire

// What is said to devices: sealed to those that were paired so, and never otherwise (protocol.md 4.2).
extension DesktopCore {
    /// Everything that is sent to a peer goes through here. Each call seals anew.
    ///
    /// - Parameter sealed: also to a peer that is not paired yet.
    func send(
        _ payload: JSONValue, to peer: PeerID, sealed: Bool = false, over link: RelayConnection
    ) -> SendResult {
        guard sealed || isSecure(peer) else { return link.send(to: peer, payload: payload) }
        guard link.state.isOnline else { return .offline }
        do throws(SealError) {
            let envelope = try sealer.seal(payload.object ?? [:], to: peer, now: .now)
            return link.send(to: peer, payload: .object(envelope), sealed: true)
        } catch {
            channel.log(.warning, "something could not be sealed to a device: \(error.message)")
            return error.code == .tooLarge ? .tooLarge : .offline
        }
    }

    func isSecure(_ peer: PeerID) -> Bool { devices.contains { $0.did == peer && $0.isSecure } }

    /// The connection that a peer was heard over last, else any that is up.
    func link(to peer: PeerID) -> RelayConnection? {
        if let link = heardOver[peer].flatMap({ links[$0] }), link.state.isOnline { return link }
        return links.values.first { $0.state.isOnline }
    }

    /// A frame has an effect once: what it brings about comes after it was recorded. Plain ones are not recorded.
    func once(_ mark: SealMark?, then: @escaping @Sendable @EventLoop (DesktopCore) -> Void) {
        guard let mark else { return then(self) }
        store { (connection) throws(StoreError) in
            try SealStates(connection).save(mark)
        } then: { core, result in
            switch result {
            case .success(true): then(core)
            case .success(false): core.counters.replayed &+= 1
            case .failure(let error):
                guard error.code != .closed else { return }
                core.channel.problem("store_failed", "what a device sent was dropped: \(error.message)")
            }
        }
    }
}

/// What a device's commands stand on: it is gone at once when the device is unpaired, also for those under way.
///
/// Read on the store's thread too.
final class Right: Sendable {
    private let revoked = Atomic(false)

    var isRevoked: Bool { revoked.load(ordering: .acquiring) }

    func revoke() { revoked.store(true, ordering: .releasing) }
}
