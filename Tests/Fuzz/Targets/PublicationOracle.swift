import Identity
import JSON
import Notifications

@testable import Door

/// What must hold for each publication that the door accepts.
struct PublicationOracle {
    private let publication: Publication

    init(_ publication: Publication) { self.publication = publication }

    func check() throws {
        try limits()
        try spellings()
        try desktop()
    }

    private func limits() throws {
        let fields = [publication.click, publication.icon, publication.category, publication.attachment]
        let texts = fields.compactMap(\.self) + publication.tags
        try require(texts.allSatisfy { $0.utf8.count <= 4_096 }, "a field of more than 4,096 bytes")
        try require((publication.title ?? "").utf8.count <= 1_024, "a title of more than 1,024 bytes")
        try require(
            1...65_536 ~= publication.message.utf8.count, "a message of \(publication.message.utf8.count) bytes")
        try require(publication.tags.count <= 32, "\(publication.tags.count) tags")
        try require(1...5 ~= publication.priority, "priority \(publication.priority)")
        try require(publication.actions.count <= 3, "\(publication.actions.count) actions")
        for action in publication.actions {
            try require(1...256 ~= action.label.utf8.count, "a label of \(action.label.utf8.count) bytes")
            try require(1...4_096 ~= action.url.utf8.count, "a link of \(action.url.utf8.count) bytes")
        }
        try require(publication.attachment?.lowercased().hasPrefix("https://") ?? true, "an image that isn't https")
        try require(publication.icon?.lowercased().hasPrefix("http") ?? true, "an icon that isn't http")
        let topic = publication.topic.unicodeScalars
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".unicodeScalars
        try require(1...64 ~= topic.count && topic.allSatisfy(letters.contains), "a topic of other characters")
        try require(publication.group == nil, "a group that no token has given")
        if let moment = publication.moment {
            let ahead = moment - PublicationRequest.now
            try require(0...366 * 86_400_000 ~= ahead, "a push \(ahead) ms ahead")
        }
    }

    // MARK: Other spellings

    private func spellings() throws {
        try require(try Self.same(object()) == publication, "differs as a JSON object")
        // In a header, \n stands for a line break, so a header can't carry these two characters themselves.
        guard !publication.message.contains("\\n"), !publication.message.utf8.contains(UInt8(ascii: "\r")) else {
            return
        }
        for isQuery in [true, false] {
            let request = fields(isQuery: isQuery)
            try require(try Self.same(request) == publication, "differs \(isQuery ? "in a query" : "in headers")")
        }
    }

    private static func same(_ request: PublicationRequest) throws -> Publication {
        do { return try request.read() } catch { throw FuzzFinding("refused in another spelling: \(error.message)") }
    }

    private var actions: JSONValue {
        .array(publication.actions.map { ["action": "view", "label": .string($0.label), "url": .string($0.url)] })
    }

    private func object() -> PublicationRequest {
        var request = PublicationRequest(target: "/")
        let object: JSONObject = [
            "topic": .string(publication.topic), "message": .string(publication.message),
            "title": publication.title.map(JSONValue.string), "priority": .integer(Int64(publication.priority)),
            "tags": .array(publication.tags.map(JSONValue.string)), "click": publication.click.map(JSONValue.string),
            "icon": publication.icon.map(JSONValue.string), "category": publication.category.map(JSONValue.string),
            "attach": publication.attachment.map(JSONValue.string), "actions": actions,
            "delay": publication.moment.map { .integer($0 / 1_000) },
        ]
        request.body = Array(JSONValue.object(object).serialized().utf8)
        return request
    }

    /// The same in headers, as encoded words, or in the query.
    private func fields(isQuery: Bool) -> PublicationRequest {
        let line = publication.message.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
        // Tags that a list can't have go into the object; so does the topic.
        let inList = publication.tags.allSatisfy { !$0.isEmpty && !$0.contains(",") && $0.trimmed == $0 }
        let pairs: [(String, String?)] = [
            ("message", line), ("title", publication.title), ("p", "\(publication.priority)"),
            ("tags", inList && !publication.tags.isEmpty ? publication.tags.joined(separator: ",") : nil),
            ("click", publication.click), ("icon", publication.icon), ("category", publication.category),
            ("attach", publication.attachment),
            ("actions", publication.actions.isEmpty ? nil : actions.serialized()),
            ("delay", publication.moment.map { "\($0 / 1_000)" }),
        ]
        var request = PublicationRequest(target: "/")
        let object: JSONObject = [
            "topic": .string(publication.topic), "tags": inList ? nil : .array(publication.tags.map(JSONValue.string)),
        ]
        request.body = Array(JSONValue.object(object).serialized().utf8)
        for case (let name, let value?) in pairs {
            if isQuery {
                let escaped = value.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                request.target += (request.target == "/" ? "?" : "&") + "\(name)=\(escaped)"
            } else {
                request.headers.append((name, "=?UTF-8?B?\(TextEncoding.base64.encode(Array(value.utf8)))?="))
            }
        }
        return request
    }

    // MARK: The desktop

    private func desktop() throws {
        let params = publication.parameters(groups: [])
        guard let read = try? JSONValue(parsing: JSONValue.object(params).serialized()).object, read == params else {
            throw FuzzFinding("the desktop's parameters read back as others")
        }
        do {
            let request = try PushRequest(peer: ParameterReader(NotificationMethod.broadcast.row.wire(from: read)))
            try require(request.title == publication.title ?? publication.topic, "another title")
            try require(request.body == publication.message, "another text")
            try require(request.scheduledAt == publication.moment, "another time")
            try require(request.data?["topic"]?.string == publication.topic, "another topic")
        } catch let error as NotificationsError {
            throw FuzzFinding("the desktop refuses what the door takes: \(error.message)")
        }
        let answer = publication.answer(id: "n", now: PublicationRequest.now)
        try require(try JSONValue(parsing: answer.serialized()) == answer, "an answer reads back as another one")
    }

    // MARK: Second implementations

    /// With numbers that can't overflow.
    static func delay(_ text: String) throws {
        let (now, second, limit) = (Int128(PublicationRequest.now), Int128(1_000), Int128(366 * 86_400))
        let scalars = Array(text.lowercased().unicodeScalars)
        let digits = scalars.prefix { ("0"..."9").contains($0) }
        var expected: Int128?
        if !digits.isEmpty {
            let number = digits.reduce(Int128(0)) { min($0 * 10 + Int128($1.value - 48), 1_000_000 * limit * second) }
            let unit = String(String.UnicodeScalarView(scalars.dropFirst(digits.count).drop { $0 == " " }))
            let units: [(Int128, Set<String>)] = [
                (1, ["", "s", "sec", "secs", "second", "seconds"]), (60, ["m", "min", "mins", "minute", "minutes"]),
                (3_600, ["h", "hour", "hours"]), (86_400, ["d", "day", "days"]),
            ]
            if unit.isEmpty, number >= 1_000_000_000 {
                if number * second - now <= limit * second { expected = max(number * second, now) }
            } else if let length = units.first(where: { $0.1.contains(unit) })?.0, number * length <= limit {
                expected = now + number * length * second
            }
        }
        let moment = try? Delay.moment(text, now: PublicationRequest.now)
        try require(moment.map { Int128($0) } == expected, "a delay is \(moment ?? -1) and not \(expected ?? -1)")
    }

    /// RFC 2047, byte by byte, in UTF-8. Other character sets have tests of their own.
    static func word(_ text: String) throws {
        let decoded = EncodedWord.decode(text)
        let lower = text.lowercased()
        guard
            lower.split(separator: "=?", omittingEmptySubsequences: false).dropFirst().allSatisfy({
                $0.hasPrefix("utf-8?")
            })
        else { return }
        let bytes = Array(text.utf8)
        var (result, held, index): ([UInt8], [UInt8], Int) = ([], [], 0)
        // Blanks behind a word; they count unless another word follows.
        var blanks: [UInt8]?
        while index < bytes.count {
            if let (content, end) = word(bytes, at: index) {
                held += content
                (blanks, index) = ([], end)
            } else if blanks != nil, bytes[index] == 0x20 || (0x09...0x0d).contains(bytes[index]) {
                blanks?.append(bytes[index])
                index += 1
            } else {
                result += Array(String(decoding: held, as: UTF8.self).utf8) + (blanks ?? []) + [bytes[index]]
                (held, blanks, index) = ([], nil, index + 1)
            }
        }
        result += Array(String(decoding: held, as: UTF8.self).utf8) + (blanks ?? [])
        try require(decoded.utf8.elementsEqual(result), "encoded words decode to another text")
    }

    private static func word(_ bytes: [UInt8], at start: Int) -> (content: [UInt8], end: Int)? {
        let mark = UInt8(ascii: "?")
        guard bytes[start] == UInt8(ascii: "="), bytes.dropFirst(start + 1).first == mark else { return nil }
        let marks = bytes.indices.dropFirst(start + 2).filter { bytes[$0] == mark }.prefix(3)
        guard marks.count == 3, let last = marks.last, last + 1 < bytes.count else { return nil }
        return decoded(Array(bytes[start...(last + 1)])).map { ($0, last + 2) }
    }

    private static func decoded(_ word: [UInt8]) -> [UInt8]? {
        let head = Array("=?utf-8?".utf8)
        guard word.count >= head.count + 4, word.prefix(head.count).map({ lower($0) }) == head,
            word.suffix(2) == Array("?=".utf8)
        else { return nil }
        let rest = word.dropFirst(head.count).dropLast(2)
        guard let kind = rest.first.map({ lower($0) }), rest.dropFirst().first == UInt8(ascii: "?") else { return nil }
        var text = rest.dropFirst(2)
        guard !text.contains(UInt8(ascii: "?")) else { return nil }
        guard kind == UInt8(ascii: "q") else {
            guard kind == UInt8(ascii: "b") else { return nil }
            // The padding may be missing, or be anywhere.
            let digits = text.filter { $0 != UInt8(ascii: "=") }
            let missing = [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
            return TextEncoding.base64.decode(String(decoding: digits + missing, as: UTF8.self))
        }
        var bytes: [UInt8] = []
        while let byte = text.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                bytes.append(byte == UInt8(ascii: "_") ? UInt8(ascii: " ") : byte)
                continue
            }
            guard let high = text.popFirst().flatMap({ digit($0) }), let low = text.popFirst().flatMap({ digit($0) })
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte + 32 : byte }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch lower(byte) {
        case let byte where (0x30...0x39).contains(byte): byte - 0x30
        case let byte where (0x61...0x66).contains(byte): byte - 0x57
        default: nil
        }
    }
}
