import JSON
import Pairing
import Signalling
import Store
import Transport
import Wire

/// How often a device has heard that it is not paired.
struct UnpairNotice {
    /// When it was told last, in the loop's time.
    var toldAt: UInt64 = 0
    /// The relays that have carried it since this start: those of ours keep it for a device that is away.
    var toldOver: Set<String> = []
}

// Devices that are to know that they are not paired any more. Nobody answers that, so it is said again: whenever a relay
// has us registered, and when such a device speaks.
extension DesktopCore {
    /// What ends a sealed pairing, said by either side (protocol.md 4.8).
    static let unpairType = "bellwire:unpair"
    /// Before a device that goes on speaking is told again, in milliseconds.
    private static let noticeInterval: UInt64 = 10_000

    /// Tells them, and will again. Gives those whom the store is to remember: only a device that was paired sealed can
    /// tell that it was us.
    func tellUnpaired(_ gone: [PairedDevice]) -> [PeerID] {
        let peers = gone.filter(\.isSecure).map(\.did)
        for peer in peers { begin(peer) }
        return peers
    }

    /// A device that was told that it is paired, and is not. One that was paired before still is.
    func withdraw(_ peer: PeerID) {
        guard !isSecure(peer) else { return }
        begin(peer)
        store { (connection) throws(StoreError) in
            // Another flow may have paired it meanwhile.
            guard try PairedDevices(connection).find(peer) == nil else { return }
            try UnpairNotices(connection).add(peer, at: .now)
        } then: { _, _ in
        }
    }

    private func begin(_ peer: PeerID) {
        notices[peer] = UnpairNotice(toldAt: EventLoop.now)
        for url in links.keys { sendUnpair(to: peer, over: url) }
    }

    /// We are registered there.
    func remindUnpaired(over url: String) {
        for (peer, notice) in notices where !notice.toldOver.contains(url) { sendUnpair(to: peer, over: url) }
    }

    /// A stranger has sealed something to us.
    func remindUnpaired(_ peer: PeerID, over url: String) {
        guard let notice = notices[peer], EventLoop.now &- notice.toldAt >= Self.noticeInterval else { return }
        notices[peer]?.toldAt = EventLoop.now
        sendUnpair(to: peer, over: url)
    }

    private func sendUnpair(to peer: PeerID, over url: String) {
        let payload: JSONValue = ["type": .string(Self.unpairType), "payload": [:]]
        guard let link = links[url], send(payload, to: peer, sealed: true, over: link).isWritten else { return }
        notices[peer]?.toldOver.insert(url)
    }
}
