import CHTTPParser

/// Reads the head of one HTTP message out of bytes that come in any pieces. Without a socket.
final class HTTPHeadParser {
    enum Kind { case request, response }

    enum Outcome {
        case needsMore
        /// The head is whole; it took the first `consumed` of the bytes just given.
        case head(HTTPHead, consumed: Int)
        case failed(TransportError)
    }

    private let parser = UnsafeMutablePointer<http_parser>.allocate(capacity: 1)
    private let fields = HTTPHeadFields()
    private let limit: Int
    private var taken = 0
    /// Whether a part of a head has come.
    var hasBegun: Bool { taken > 0 }

    init(_ kind: Kind, limit: Int) {
        self.limit = max(1, limit)
        http_parser_init(parser, kind == .request ? HTTP_REQUEST : HTTP_RESPONSE)
        parser.pointee.data = Unmanaged.passUnretained(fields).toOpaque()
    }

    deinit { parser.deallocate() }

    func take(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        guard !bytes.isEmpty else { return .needsMore }
        let room = limit - taken
        let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(room))
        var settings = Self.settings
        let consumed = http_parser_execute(
            parser, &settings, part.baseAddress?.assumingMemoryBound(to: CChar.self), part.count)
        taken += part.count
        if fields.isComplete, consumed <= part.count {
            return .head(HTTPHead(parser.pointee, fields), consumed: consumed)
        }
        let reason = http_errno(rawValue: parser.pointee.http_errno)
        guard reason == HPE_OK else {
            let text = http_errno_description(reason).map { String(cString: $0) } ?? "bad bytes"
            return .failed(TransportError(.badHTTP, "not HTTP: \(text)"))
        }
        guard part.count == bytes.count, taken < limit else {
            return .failed(TransportError(.headTooLarge, "the HTTP head is larger than \(limit) bytes"))
        }
        return .needsMore
    }

    /// http-parser's callbacks. They write to ``HTTPHeadFields`` only.
    private static let settings: http_parser_settings = {
        var settings = http_parser_settings()
        http_parser_settings_init(&settings)
        settings.on_url = { HTTPHeadFields.of($0)?.appendTarget($1, $2) ?? 1 }
        settings.on_header_field = { HTTPHeadFields.of($0)?.appendName($1, $2) ?? 1 }
        settings.on_header_value = { HTTPHeadFields.of($0)?.appendValue($1, $2) ?? 1 }
        // 1 = no body follows: whatever comes after the head is not this parser's.
        settings.on_headers_complete = { parser in
            guard let parser, let fields = HTTPHeadFields.of(parser) else { return -1 }
            let length = parser.pointee.content_length
            fields.hasBody = parser.pointee.flags & 1 != 0 || (length > 0 && length != UInt64.max)
            fields.keepsAlive = http_should_keep_alive(parser) != 0
            return 1
        }
        settings.on_message_complete = { parser in
            HTTPHeadFields.of(parser)?.isComplete = true
            http_parser_pause(parser, 1)
            return 0
        }
        return settings
    }()
}

/// The data that http-parser's callbacks collect.
final class HTTPHeadFields {
    var target: [UInt8] = []
    var headers: [(name: [UInt8], value: [UInt8])] = []
    var isInValue = true
    var isComplete = false
    var hasBody = false
    var keepsAlive = false

    static func of(_ parser: UnsafeMutablePointer<http_parser>?) -> HTTPHeadFields? {
        guard let data = parser?.pointee.data else { return nil }
        return Unmanaged<HTTPHeadFields>.fromOpaque(data).takeUnretainedValue()
    }

    func appendTarget(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> CInt {
        target.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
    }

    func appendName(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> CInt {
        if isInValue { headers.append(([], [])) }
        isInValue = false
        guard !headers.isEmpty else { return 1 }
        headers[headers.count - 1].name.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
    }

    func appendValue(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> CInt {
        isInValue = true
        guard !headers.isEmpty else { return 1 }
        headers[headers.count - 1].value.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return 0
    }
}

/// The head of a request or a response.
struct HTTPHead {
    let method: String
    let target: String
    let status: Int
    let isHTTP11: Bool
    let headers: [HTTPRequestHead.Header]
    let hasBody: Bool
    let keepsAlive: Bool

    fileprivate init(_ parser: http_parser, _ fields: HTTPHeadFields) {
        method = http_method_str(http_method(rawValue: parser.method)).map { String(cString: $0) } ?? ""
        status = Int(parser.status_code)
        isHTTP11 = (parser.http_major, parser.http_minor) >= (1, 1)
        var target = String(decoding: fields.target, as: UTF8.self)
        var headers = fields.headers.map {
            HTTPRequestHead.Header(
                name: String(decoding: $0.name, as: UTF8.self), value: Self.text($0.value.trimmingBlanks))
        }
        if let (authority, rest) = Self.absolute(target),
            headers.count(where: { $0.name.equalsIgnoringCase("Host") }) < 2
        {
            target = rest
            headers.removeAll { $0.name.equalsIgnoringCase("Host") }
            headers.append(.init(name: "Host", value: authority))
        }
        self.target = target
        self.headers = headers
        hasBody = fields.hasBody
        keepsAlive = fields.keepsAlive
    }

    /// A header's value is UTF-8, or else ISO-8859-1, which older clients send. Programs that cut texts may cut UTF-8 inside
    /// its last character.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let whole = bytes.dropLast(UTF8Cut.length(of: bytes))
        if whole.count < bytes.count, let text = String(validating: whole, as: UTF8.self) { return text + "\u{FFFD}" }
        return String(decoding: bytes.map { UInt16($0) }, as: UTF16.self)
    }

    /// Host and rest of a target in absolute form, as clients send it to proxies. It counts, and not the Host header (RFC
    /// 9112, section 3.2.2). Its user and password don't (RFC 9110, section 4.2.4): the header `Authorization` has them.
    private static func absolute(_ target: String) -> (authority: String, rest: String)? {
        let scheme = target.prefix(8).lowercased()
        guard scheme == "https://" || scheme.hasPrefix("http://") else { return nil }
        let rest = target.dropFirst(scheme == "https://" ? 8 : 7)
        let given = rest.prefix { $0 != "/" && $0 != "?" }
        let path = rest.dropFirst(given.count)
        let authority = given.lastIndex(of: "@").map { given[given.index(after: $0)...] } ?? given
        return authority.isEmpty ? nil : (String(authority), path.hasPrefix("/") ? String(path) : "/\(path)")
    }

    subscript(_ name: String) -> String? {
        headers.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    func count(of name: String) -> Int {
        headers.count { $0.name.equalsIgnoringCase(name) }
    }

    /// Whether a header that lists tokens (`Connection: keep-alive, Upgrade`) has this one.
    func lists(_ token: String, in name: String) -> Bool {
        headers.contains { header in
            header.name.equalsIgnoringCase(name)
                && header.value.split(separator: ",").contains {
                    String(decoding: Array($0.utf8).trimmingBlanks, as: UTF8.self).equalsIgnoringCase(token)
                }
        }
    }
}

extension HTTPHead {
    /// Whether every header is as RFC 9110 writes it. http-parser lets pass what other servers understand differently.
    var isWellFormed: Bool {
        headers.allSatisfy { header in
            !header.name.isEmpty
                && header.name.utf8.allSatisfy { byte in
                    0x30...0x39 ~= byte || 0x41...0x5a ~= byte || 0x61...0x7a ~= byte
                        || "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
                && header.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }
        }
    }
}

extension [UInt8] {
    fileprivate var trimmingBlanks: ArraySlice<UInt8> {
        var slice = self[...]
        while let first = slice.first, first == 0x20 || first == 0x09 { slice.removeFirst() }
        while let last = slice.last, last == 0x20 || last == 0x09 { slice.removeLast() }
        return slice
    }
}
