import CHTTPParser

/// Reads the body of one request out of bytes that come in any pieces. Without a socket.
///
/// How long it is comes from the head, whose headers leave no doubt (``Framing``).
final class HTTPBodyParser {
    enum Framing: Equatable {
        case length(Int)
        case chunked

        /// - Throws: `badHTTP` for headers that two servers could understand differently.
        init(_ head: HTTPHead) throws(TransportError) {
            let (lengths, encodings) = (head.count(of: "Content-Length"), head.count(of: "Transfer-Encoding"))
            guard lengths + encodings <= 1 else {
                throw TransportError(.badHTTP, "more than one header gives the length of the body")
            }
            if let encoding = head["Transfer-Encoding"] {
                guard head.isHTTP11, encoding.equalsIgnoringCase("chunked") else {
                    throw TransportError(.badHTTP, "the only transfer encoding that is understood is chunked")
                }
                self = .chunked
            } else if let text = head["Content-Length"] {
                guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                    let length = Int(text)
                else { throw TransportError(.badHTTP, "the Content-Length is not a number") }
                self = .length(length)
            } else if !head.isHTTP11, ["POST", "PUT"].contains(head.method) {
                // The end of the connection is not the end of a request (RFC 1945, sections 7.2.2 and 8.3).
                throw TransportError(.badHTTP, "a request of HTTP/1.0 needs a Content-Length")
            } else {
                self = .length(0)
            }
        }
    }

    enum Outcome: Equatable {
        case needsMore
        /// The body is whole; it took the first `consumed` of the bytes just given.
        case whole(consumed: Int)
        case tooLarge
        case malformed
    }

    /// A chunk may be as small as a byte; what surrounds it counts, too.
    private static let overhead = 8

    private(set) var body: [UInt8] = []
    /// Bytes of its middle that were left out.
    private(set) var omitted = 0
    private let kept: Int
    private let framing: Framing
    private let limit: Int
    /// What a chunked body may have as a whole, with its sizes and trailers.
    private var room: Int
    private let chunks = HTTPChunks()

    init(_ framing: Framing, limit: Int, kept: Int = .max) {
        (self.framing, self.limit, self.kept) = (framing, limit, kept)
        room = limit &* Self.overhead &+ 16_384
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        switch framing {
        case .length(let length):
            guard length <= limit else { return .tooLarge }
            let part = bytes.prefix(length - omitted - body.count)
            body.append(contentsOf: part)
            shorten()
            return omitted + body.count == length ? .whole(consumed: part.count) : .needsMore
        case .chunked:
            let outcome = chunks.take(bytes, into: &body, limit: limit - omitted)
            shorten()
            room -= bytes.count
            if case .needsMore = outcome, room < 0 { return .tooLarge }
            return outcome
        }
    }
}

extension HTTPBodyParser {
    private func shorten() {
        guard body.count > kept else { return }
        let middle = kept / 4..<(body.count - kept / 4)
        body.removeSubrange(middle)
        omitted += middle.count
    }
}

/// http-parser, in the body of a message that is sent in chunks.
private final class HTTPChunks {
    private let parser = UnsafeMutablePointer<http_parser>.allocate(capacity: 1)
    private let collected = Collected()

    private final class Collected {
        var bytes: [UInt8] = []
        var limit = 0
        var isComplete = false

        static func of(_ parser: UnsafeMutablePointer<http_parser>?) -> Collected? {
            guard let data = parser?.pointee.data else { return nil }
            return Unmanaged<Collected>.fromOpaque(data).takeUnretainedValue()
        }
    }

    init() {
        http_parser_init(parser, HTTP_REQUEST)
        parser.pointee.data = Unmanaged.passUnretained(collected).toOpaque()
        // The real head was read by another parser, for which no body follows it.
        let head = Array("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        var settings = Self.settings
        _ = head.withUnsafeBytes {
            http_parser_execute(parser, &settings, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
        }
    }

    deinit { parser.deallocate() }

    func take(_ bytes: UnsafeRawBufferPointer, into body: inout [UInt8], limit: Int) -> HTTPBodyParser.Outcome {
        guard !bytes.isEmpty else { return .needsMore }
        var settings = Self.settings
        collected.limit = limit - body.count
        let consumed = http_parser_execute(
            parser, &settings, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        guard collected.bytes.count <= collected.limit else { return .tooLarge }
        body.append(contentsOf: collected.bytes)
        collected.bytes.removeAll(keepingCapacity: true)
        if collected.isComplete { return .whole(consumed: min(consumed, bytes.count)) }
        return http_errno(rawValue: parser.pointee.http_errno) == HPE_OK ? .needsMore : .malformed
    }

    private static let settings: http_parser_settings = {
        var settings = http_parser_settings()
        http_parser_settings_init(&settings)
        settings.on_body = { parser, bytes, count in
            guard let collected = Collected.of(parser) else { return 1 }
            collected.bytes.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
            // 1 = stop: nothing beyond the limit is read.
            return collected.bytes.count <= collected.limit ? 0 : 1
        }
        settings.on_message_complete = { parser in
            Collected.of(parser)?.isComplete = true
            http_parser_pause(parser, 1)
            return 0
        }
        return settings
    }()
}
