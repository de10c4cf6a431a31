import Hosting
import Peering

extension MachineWatch {
    /// Connections are suspended and resumed with the machine, and follow its network.
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
