/// Names a way to peers. Which kind of way it is, only Peering knows.
///
/// Made of the route's address, so that the same address always has the same id. The process's own random key is part of
/// the calculation: nobody outside can find two addresses with one id. Never stored and never sent.
package struct RouteID: Hashable, Sendable {
    private let number: Int

    /// - Parameter address: a relay's URL, or what another kind of route calls its other end.
    package init(_ address: String) {
        var hasher = Hasher()
        hasher.combine(address)
        number = hasher.finalize()
    }
}
