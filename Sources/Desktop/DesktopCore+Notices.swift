import JSON
import Pairing
import Signalling
import Store
import Transport
import Wire

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
        for peer in peers {
            notices[peer] = EventLoop.now
            for url in routes(to: peer) { sendUnpair(to: peer, over: url) }
        }
        return peers
    }

    /// A device that was told that it is paired, and is not. One that was paired before still is.
    func withdraw(_ peer: PeerID) {
        guard !isSecure(peer) else { return }
        notices[peer] = EventLoop.now
        for url in links.keys { sendUnpair(to: peer, over: url) }
        store { (connection) throws(StoreError) in
            try UnpairNotices(connection).add(peer, at: .now)
        } then: { _, _ in
        }
    }

    /// We are registered there.
    func remindUnpaired(over url: String) {
        for peer in notices.keys { sendUnpair(to: peer, over: url) }
    }

    /// A stranger has sealed something to us.
    func remindUnpaired(_ peer: PeerID, over url: String) {
        guard let told = notices[peer], EventLoop.now &- told >= Self.noticeInterval else { return }
        notices[peer] = EventLoop.now
        sendUnpair(to: peer, over: url)
    }

    private func sendUnpair(to peer: PeerID, over url: String) {
        let payload: JSONValue = ["type": .string(Self.unpairType), "payload": [:]]
        if let link = links[url] { _ = send(payload, to: peer, sealed: true, over: link) }
    }
}
