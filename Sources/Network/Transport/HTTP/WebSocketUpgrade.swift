/// The opening handshake of RFC 6455, both sides, as text in and text out.
enum WebSocketUpgrade {
    /// A key is 16 random bytes in base64.
    static let keyLength = 24

    /// What a server sends back for a client's key: base64 of the SHA-1 that the RFC prescribes.
    static func accept(for key: String) -> String {
        base64(SHA1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
    }

    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for digit in 0..<4 {
                text.append(digit <= group.count ? alphabet[bits >> (18 - 6 * digit) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: Client

    /// The request. Extra headers with characters that could begin another header are left out.
    static func request(to url: WebSocketURL, key: String, headers: [(name: String, value: String)]) -> [UInt8] {
        var text = "GET \(url.path) HTTP/1.1\r\nHost: \(url.hostHeader)\r\nUpgrade: websocket\r\n"
        text += "Connection: Upgrade\r\nSec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n"
        for (name, value) in headers where isToken(name) && isValue(value) { text += "\(name): \(value)\r\n" }
        return Array((text + "\r\n").utf8)
    }

    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) || $0 == 0x2d
                    || $0 == 0x5f
            }
    }

    private static func isValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    /// `nil` = the server agreed.
    static func refusal(of head: HTTPHead, key: String) -> TransportError? {
        func refused(_ why: String) -> TransportError {
            TransportError(.upgradeRefused, "the server refused the WebSocket: \(why)")
        }
        guard head.status == 101 else { return refused("HTTP status \(head.status)") }
        guard head.lists("websocket", in: "Upgrade"), head.lists("upgrade", in: "Connection") else {
            return refused("it did not upgrade the connection")
        }
        guard head["Sec-WebSocket-Accept"] == accept(for: key) else {
            return refused("its Sec-WebSocket-Accept is wrong")
        }
        // We offered none, so the server must not choose one.
        guard head["Sec-WebSocket-Extensions"] == nil, head["Sec-WebSocket-Protocol"] == nil else {
            return refused("it chose an extension or protocol that was not offered")
        }
        return nil
    }

    // MARK: Server

    enum Verdict: Equatable {
        case accepted(key: String)
        /// It is a plain request.
        case plain
        case refused(status: Int, String)
    }

    static func verdict(on head: HTTPHead) -> Verdict {
        guard head.lists("websocket", in: "Upgrade"), head.lists("upgrade", in: "Connection") else { return .plain }
        guard head.method == "GET", head.isHTTP11, !head.hasBody else {
            return .refused(status: 400, "a WebSocket request must be GET with HTTP/1.1")
        }
        guard head.count(of: "Host") == 1 else { return .refused(status: 400, "exactly one Host header is required") }
        guard head["Sec-WebSocket-Version"] == "13" else {
            return .refused(status: 426, "this server supports only WebSocket version 13")
        }
        guard head.count(of: "Sec-WebSocket-Key") == 1, let key = head["Sec-WebSocket-Key"], isKey(key) else {
            return .refused(status: 400, "the Sec-WebSocket-Key is not 16 bytes in base64")
        }
        return .accepted(key: key)
    }

    private static func isKey(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        guard bytes.count == keyLength, bytes.hasSuffix("==") else { return false }
        return bytes.dropLast(2).allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) || $0 == 0x2b
                || $0 == 0x2f
        }
    }

    static func agreement(key: String) -> [UInt8] {
        let text =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(accept(for: key))\r\n\r\n"
        return Array(text.utf8)
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ text: StaticString) -> Bool {
        suffix(text.utf8CodeUnitCount).elementsEqual(text.withUTF8Buffer { Array($0) })
    }
}
