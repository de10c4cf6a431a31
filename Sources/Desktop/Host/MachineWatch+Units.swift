import Hosting
import Peering

extension MachineWatch {
    /// What is connected sleeps and wakes with its machine, and follows its network.
    convenience init(_ routes: Routes, _ pairing: DesktopPairing) {
        self.init(
            networkChanged: {
                routes.networkChanged()
                pairing.networkChanged()
            },
            fallsAsleep: {
                routes.suspend()
                pairing.suspend()
            },
            isAwake: {
                routes.resume()
                pairing.resume()
            })
    }
}
