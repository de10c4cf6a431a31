import CHTTPParser

/// A small answer, ready for the wire.
enum HTTPResponse {
    static func bytes(
        status: Int, contentType: String, body: [UInt8], keepsAlive: Bool, withBody: Bool
    ) -> [UInt8] {
        let status = (200...599).contains(status) ? status : 500
        var head = "HTTP/1.1 \(status) \(reason(status))\r\nContent-Length: \(body.count)\r\n"
        if !body.isEmpty { head += "Content-Type: \(contentType)\r\n" }
        if status == 401 { head += "WWW-Authenticate: Bearer\r\n" }
        if status == 426 { head += "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" }
        head += "Connection: \(keepsAlive ? "keep-alive" : "close")\(status == 426 ? ", Upgrade" : "")\r\n\r\n"
        return Array(head.utf8) + (withBody ? body : [])
    }

    private static func reason(_ status: Int) -> String {
        guard let text = http_status_str(http_status(rawValue: UInt32(status))) else { return "" }
        let known = String(cString: text)
        return known == "<unknown>" ? "" : known
    }
}
