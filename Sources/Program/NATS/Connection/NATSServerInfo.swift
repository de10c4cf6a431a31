import JSON

/// What a server says of itself, as far as it matters.
package struct NATSServerInfo: Sendable, Equatable {
    package let name: String
    package let version: String
    /// Of a message with its headers, in bytes.
    package let maximumPayload: Int
    package let hasHeaders: Bool
    package let hasJetStream: Bool
    let requiresTLS: Bool
    let offersTLS: Bool
    let nonce: String?
    /// Addresses of the cluster's other servers, at most ``maximumAddresses``.
    let addresses: [String]
    /// It is about to stop, and asks its clients to go elsewhere.
    let isLeaving: Bool

    static let maximumAddresses = 64

    init(_ value: JSONValue) {
        name = value["server_name"]?.string ?? value["server_id"]?.string ?? ""
        version = value["version"]?.string ?? ""
        maximumPayload = max(0, Int(clamping: value["max_payload"]?.integer ?? 1 << 20))
        hasHeaders = value["headers"]?.bool ?? false
        hasJetStream = value["jetstream"]?.bool ?? false
        requiresTLS = value["tls_required"]?.bool ?? false
        offersTLS = value["tls_available"]?.bool ?? false
        nonce = value["nonce"]?.string
        addresses = (value["connect_urls"]?.array ?? []).prefix(Self.maximumAddresses).compactMap(\.string)
        isLeaving = value["ldm"]?.bool ?? false
    }
}
