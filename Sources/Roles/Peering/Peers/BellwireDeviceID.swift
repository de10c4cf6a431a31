package import Wire

extension PeerID {
    /// What a Bellwire device with this id calls itself in pairing.
    package var bellwireDeviceID: String { "bw-" + text.suffix(16) }
}
