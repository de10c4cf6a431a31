package import Wire

/// An address at which a desktop can be reached, as a code or the store names it.
package struct PairingRoute: Sendable, Hashable {
    /// Where the store keeps the address.
    package enum Kind: String, Sendable {
        /// Of the desktop's local network: tried first.
        case lan
        case relay
    }

    package let kind: Kind
    package let url: String
    package let id: RouteID

    package init(_ kind: Kind, url: String) {
        self.kind = kind
        self.url = url
        id = RouteID(url)
    }
}
