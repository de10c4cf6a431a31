/// The answer to a request: a WebSocket, or a small page.
package enum HTTPAnswer: Sendable {
    case upgrade
    /// A whole answer. `HEAD` requests get its headers only.
    case respond(status: Int, contentType: String, body: [UInt8])

    package static func respond(status: Int, contentType: String, text: String) -> HTTPAnswer {
        .respond(status: status, contentType: contentType, body: Array(text.utf8))
    }
}
