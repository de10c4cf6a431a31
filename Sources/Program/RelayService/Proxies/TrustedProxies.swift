internal import Transport

/// The proxies that may say who their clients are: by X-Forwarded-For, or by a PROXY header.
///
/// Anyone else is taken as the client itself, whatever it claims.
@EventLoop
final class TrustedProxies: ProxyRule {
    private var networks: [AddressBlock]
    private var usesPreamble: Bool

    nonisolated init(_ networks: [AddressBlock], usesPreamble: Bool) {
        self.networks = networks
        self.usesPreamble = usesPreamble
    }

    func change(_ networks: [AddressBlock], usesPreamble: Bool) {
        self.networks = networks
        self.usesPreamble = usesPreamble
    }

    func manner(of remote: PeerAddress) -> ProxyManner {
        guard isTrusted(remote.host) else { return .direct }
        return usesPreamble ? .preamble : .headers
    }

    func header(in bytes: UnsafeRawBufferPointer) -> ProxyHeader { ProxyHeaderReader.read(bytes) }

    /// The last address of X-Forwarded-For that is not a trusted proxy: everything before it is the client's own claim.
    func client(of request: HTTPRequestHead, from proxy: PeerAddress) -> PeerAddress {
        let claims = request.headers.filter { $0.name.lowercased() == "x-forwarded-for" }
            .flatMap { $0.value.split(separator: ",", omittingEmptySubsequences: false) }
        var nearest: NumericAddress?
        for claim in claims.reversed() {
            // Not an address: what is left of it was not written by a proxy of ours.
            guard let address = NumericAddress(claim) else { break }
            nearest = address
            guard isTrusted(address.text) else { break }
        }
        return nearest.map { PeerAddress(host: $0.text, port: proxy.port, isLoopback: false) } ?? proxy
    }

    private func isTrusted(_ host: String) -> Bool {
        guard let address = NumericAddress(host[...]) else { return false }
        return networks.contains { $0.contains(address) }
    }
}
