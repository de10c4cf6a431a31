/// How a peer wrote the inner `payload`: deployed phones differ, and each reads only its own form (WireDeployedPeers,
/// "What a desktop sends").
package enum PayloadForm: Sendable, Hashable {
    /// A JSON object.
    case object
    /// A string that holds the JSON of one.
    case text
}
