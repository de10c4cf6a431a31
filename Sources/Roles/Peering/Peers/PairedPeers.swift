package import Pairing

extension PairedDesktop: PairedPeer {}
extension PairedDevice: PairedPeer {}
