/// How a WebSocket ended.
package struct CloseReason: Sendable, CustomStringConvertible {
    /// The close code that ended it: the peer's when ``byPeer``, else ours. `nil` = it ended without a close frame;
    /// 1005 = the peer's close frame had no code.
    package let code: UInt16?
    /// What went wrong; `nil` = it was closed in order.
    package let error: TransportError?
    /// Whether the peer began it.
    package let byPeer: Bool
    /// The text of the peer's close frame, at most 123 bytes. Not for logs.
    package let text: String

    package init(code: UInt16?, error: TransportError?, byPeer: Bool, text: String = "") {
        self.code = code
        self.error = error
        self.byPeer = byPeer
        self.text = text
    }

    package var description: String {
        let who = byPeer ? "by the peer" : "by us"
        let how = code.map { "closed \(who) with \($0)" } ?? "ended \(who)"
        return error.map { "\(how): \($0.message)" } ?? how
    }
}
