/// The first part of an HTTP request: what is asked, and the headers.
package struct HTTPRequestHead: Sendable {
    package struct Header: Sendable {
        package let name: String
        package let value: String
    }

    /// `GET`, `HEAD`, …
    package let method: String
    /// Path and query as they came. Of a target in absolute form, its host is in `headers`.
    package let target: String
    /// In the order they came; a name may stand more than once.
    package let headers: [Header]
    /// Whether it is a well-formed request for a WebSocket (RFC 6455, version 13).
    package let asksForWebSocket: Bool
    /// Whether the client speaks at least HTTP/1.1, which requires a Host header.
    package var isHTTP11 = true

    /// The target without its query.
    package var path: String { String(target.prefix { $0 != "?" }) }

    /// The first header of that name, in any case.
    package subscript(_ name: String) -> String? {
        headers.first { $0.name.equalsIgnoringCase(name) }?.value
    }
}

extension String {
    /// ASCII letters without regard to case, as HTTP compares its tokens.
    func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.elementsEqual(other.utf8) { ($0 | ($0.isASCIILetter ? 0x20 : 0)) == ($1 | ($1.isASCIILetter ? 0x20 : 0)) }
    }
}

extension UInt8 {
    fileprivate var isASCIILetter: Bool { (0x41...0x5a).contains(self) || (0x61...0x7a).contains(self) }
}
