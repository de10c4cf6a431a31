/// The result of a download.
package struct Fetched: Sendable, Equatable {
    package let bytes: [UInt8]
    /// As the server says it, parameters included.
    package let contentType: String?
    /// Where it was in the end, after redirects.
    package let url: String

    package init(bytes: [UInt8], contentType: String?, url: String) {
        self.bytes = bytes
        self.contentType = contentType
        self.url = url
    }
}
