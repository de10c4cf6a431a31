package import Wire

extension RouteID: ExpressibleByStringLiteral {
    /// In tests a route is written as its address.
    package init(stringLiteral address: String) { self.init(address) }
}
