/// A relay over which a scanned desktop can be reached.
package struct PairingRoute: Sendable, Hashable {
    package enum Kind: String, Sendable {
        /// The desktop's own relay on the local network: tried first.
        case lan
        case relay
    }

    package let kind: Kind
    package let url: String

    package init(_ kind: Kind, url: String) {
        self.kind = kind
        self.url = url
    }
}
