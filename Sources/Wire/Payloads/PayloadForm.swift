/// How a peer wrote the inner `payload`: deployed phones disagree, and each reads only its own form (`protocol.md` 3).
package enum PayloadForm: Sendable, Hashable {
    /// A JSON object.
    case object
    /// A string that holds the JSON of one.
    case text
}
