/// Where a host name leads, for those who have to see the addresses before anything connects to one.
package enum NameLookUp {
    /// The addresses of a host, in the system's order: four or sixteen bytes each, as on the wire, and nothing mapped.
    ///
    /// Numeric hosts and `localhost` are known; others are asked for on a thread of their own, for as long as the system
    /// takes. `then` comes once, on the loop, never inside this call.
    package static func addresses(
        of host: String, then: @escaping @Sendable @EventLoop (Result<[[UInt8]], TransportError>) -> Void
    ) {
        if let known = Resolver.known(host, port: 0) {
            let addresses = known.map(\.bytes)
            return EventLoop.post { then(.success(addresses)) }
        }
        Resolver.ask(host, port: 0) { answer in then(answer.map { $0.map(\.bytes) }) }
    }
}
