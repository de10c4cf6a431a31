import JSON

/// The operations of a client as bytes. Names must have been checked.
enum NATSEncoder {
    static let ping = Array("PING\r\n".utf8)
    static let pong = Array("PONG\r\n".utf8)

    static func connect(_ options: JSONObject) -> [UInt8] {
        Array("CONNECT \(JSONValue.object(options).serialized())\r\n".utf8)
    }

    static func subscribe(_ subject: String, queue: String?, id: UInt64) -> [UInt8] {
        Array("SUB \(subject) \(queue.map { $0 + " " } ?? "")\(id)\r\n".utf8)
    }

    static func unsubscribe(_ id: UInt64) -> [UInt8] { Array("UNSUB \(id)\r\n".utf8) }

    static func publish(_ message: NATSMessage) -> [UInt8] {
        let reply = message.reply.map { $0 + " " } ?? ""
        var bytes: [UInt8]
        if message.headers.isEmpty {
            bytes = Array("PUB \(message.subject) \(reply)\(message.payload.count)\r\n".utf8)
        } else {
            let headers = message.headers.bytes
            let total = headers.count + message.payload.count
            bytes = Array("HPUB \(message.subject) \(reply)\(headers.count) \(total)\r\n".utf8) + headers
        }
        bytes += message.payload
        bytes += Array("\r\n".utf8)
        return bytes
    }
}
