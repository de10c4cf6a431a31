import JSON
import Pairing
import Signalling
import Transport
import Wire

// What the device tells a sealed desktop of its pushes (protocol.md 4.4).
extension DeviceCore {
    /// We are registered there: each desktop that is reached over it hears what was stored last, and sends what comes
    /// after.
    func sayHello(over url: String) {
        for desktop in desktops where routes(of: desktop).contains(url) { sayHello(to: desktop, over: links[url]) }
    }

    func sayHello(to desktop: PairedDesktop, over link: RelayConnection?) {
        guard desktop.isSecure else { return }
        _ = send(hello(to: desktop.id), to: desktop.address, sealed: true, over: link)
    }

    func hello(to desktop: PeerID) -> JSONValue { PairingHello(lastPushSeq: lastPushSeqs[desktop] ?? 0).json }
}
