import Addresses

/// The limits of downloads.
package struct FetchOptions: Sendable {
    /// The authorities to trust, as a PEM file, in place of the system's.
    package var caFile: String?
    /// Milliseconds for all of one fetch, from the name's look-up to the last byte, redirects included.
    package var timeout: UInt64 = 5_000
    /// Milliseconds for which a host that did not answer in time is not asked again; 0 = it is.
    package var rest: UInt64 = 0
    /// Bytes of a body.
    package var maximumBytes = 10 << 20
    /// Non-public addresses, or ranges such as `10.0.0.0/8`, that are allowed. Invalid entries allow nothing.
    package var allowed: [String] = []
    /// The media types to ask for, as in the header `Accept`.
    package var accept = "image/webp, image/png, image/jpeg, image/gif"

    package init() {}

    var rule: AddressRule { AddressRule(allowing: allowed.compactMap { AddressRange($0) }) }
}
