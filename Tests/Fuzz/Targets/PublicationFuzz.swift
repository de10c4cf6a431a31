import JSON

@testable import Door
@testable import Transport

extension FuzzTarget {
    /// A publication that the HTTP door accepts is within its limits, means the same in each spelling, and is accepted by
    /// the desktop. Delays and encoded words are compared with a second implementation.
    static let publication = FuzzTarget("publication", limit: 4_096) { bytes in
        var input = FuzzInput(bytes)
        switch input.choice(8) {
        case 0: try PublicationOracle.delay(String(decoding: input.rest(), as: UTF8.self))
        case 1: try PublicationOracle.word(String(decoding: input.rest(), as: UTF8.self))
        default:
            let request = PublicationRequest(&input)
            switch Result(catching: { () throws(DoorError) in try request.read() }) {
            case .success(let publication): try PublicationOracle(publication).check()
            case .failure(let error):
                try require([400, 413, 415].contains(error.status), "refused with \(error.status)")
                try require(!error.message.isEmpty, "refused without a reason")
            }
        }
    }
}

/// A request as it comes out of Transport.
struct PublicationRequest {
    static let now: Int64 = 1_700_000_000_000

    var target: String
    var headers: [(String, String)] = []
    var body: [UInt8] = []

    init(target: String) { self.target = target }

    func read() throws(DoorError) -> Publication {
        let head = HTTPRequestHead(
            method: "POST", target: target, headers: headers.map { .init(name: $0.0, value: $0.1) },
            asksForWebSocket: false)
        return try Publication(head, body: body, now: Self.now)
    }

    // MARK: Made up

    private static let fields = [
        "X-Title", "ti", "X-Message", "m", "Priority", "prio", "X-Tags", "ta", "Click", "Icon", "Attach", "a",
        "Filename",
        "Category", "Actions", "X-Delay", "In", "at", "Email", "Call", "Template", "X-Poll-ID",
    ]
    private static let members = [
        "topic", "title", "message", "priority", "tags", "click", "icon", "attach", "filename", "category", "actions",
        "delay", "email", "call",
    ]
    private static let values = [
        "t", "5", "urgent", "warning, disk", "https://e.org/a.png", "http://e.org/i", "30m", "1 day", "1700000600",
        "view, Open, https://e.org; view, b, c:d", #"[{"action":"view","label":"l","url":"u:"}]"#, "=?UTF-8?B?SMOk?=",
        "=?utf-8?q?a_=C3=A4=3f?= =?utf-8?q?b?=", "a\\nb", "%41+%c3%a4", "\u{FFFD}", "",
    ]

    init(_ input: inout FuzzInput) {
        let isObject = input.flag()
        target = isObject ? "/" : "/" + input.element(["t", "a-b_C9", "", "a/b", "\u{e4}"])
        for index in 0..<input.choice(4) {
            target += (index == 0 ? "?" : "&") + input.element(Self.fields) + "=" + Self.value(&input)
        }
        for _ in 0..<input.choice(5) { headers.append((input.element(Self.fields), Self.value(&input))) }
        guard isObject, input.choice(4) > 0 else {
            body = input.rest()
            return
        }
        var object: JSONObject = ["topic": "t"]
        for _ in 0..<input.choice(8) {
            let name = input.element(Self.members)
            switch input.choice(6) {
            case 0: object[name] = input.json(Self.members + ["action", "label", "url", "view"], depth: 3)
            case 1: object[name] = .integer(input.integer())
            case 2: object[name] = .array((0..<input.choice(4)).map { _ in .string(Self.value(&input)) })
            case 3:
                object[name] = .array(
                    (0..<input.choice(5)).map { _ in
                        ["action": "view", "label": .string(Self.value(&input)), "url": .string(Self.value(&input))]
                    })
            default: object[name] = .string(Self.value(&input))
            }
        }
        body = Array(JSONValue.object(object).serialized().utf8)
    }

    private static func value(_ input: inout FuzzInput) -> String {
        switch input.choice(8) {
        case 0: input.text(64)
        // Often longer than some limit, together with others of its kind.
        case 1: String(repeating: input.element(["a", "\u{e4}", "c:", "b,"]), count: input.number(0...4_200))
        default: input.element(values)
        }
    }
}
