/// A relay that says on the local network that it is there.
///
/// A hint and no more: anybody on the network can say anything. It changes nothing about who is trusted.
package struct DiscoveredRelay: Sendable, Hashable {
    /// What it calls itself, without control characters; at most 63 bytes.
    package let name: String
    /// `ws://host:port/path`, with a numeric host: one that a WebSocket can be opened to.
    package let url: String
    /// The desktop's id, as its TXT record claims.
    package let did: String?

    package init(name: String, url: String, did: String?) {
        self.name = name
        self.url = url
        self.did = did
    }
}
