import Pairing
import Wire

/// The relays on local networks that need not be tried for now: every desktop that is reached over one is reached over its
/// other relay. Such a relay is tried again when the network changes, and every ten minutes.
///
/// That the other relay is up is not enough where the desktop is known to be absent from it: then it may be at home alone.
func restingRoutes(
    of desktops: [PairedDesktop], absent: Set<PeerID>, isOnline: (String) -> Bool
) -> Set<String> {
    var resting: Set<String> = []
    var needed: Set<String> = []
    for desktop in desktops {
        // Its own: what only our host has named says nothing of where the desktop is.
        let relay = desktop.relayURL
        if let relay { needed.insert(relay) }
        guard let lan = desktop.lanSignalingURL else { continue }
        if let relay, relay != lan, isOnline(relay), !absent.contains(desktop.id) {
            resting.insert(lan)
        } else {
            needed.insert(lan)
        }
    }
    return resting.subtracting(needed)
}
