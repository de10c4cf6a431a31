import Alerts
import JSON
import TestSupport
import Testing

@Suite struct CategoriesTests {
    @Test("remote notifications can be marked as read, until the host says otherwise")
    func builtIn() throws {
        #expect(Categories()["REMOTE_NOTIFICATION"]?.actions.map(\.id) == ["MARK_READ_ACTION"])
        #expect(try Categories(parsing: [])["REMOTE_NOTIFICATION"] != nil)
        let own = try Categories(parsing: [["id": "REMOTE_NOTIFICATION"]])
        #expect(own["REMOTE_NOTIFICATION"]?.actions == [] && own.all.count == 1)
    }

    @Test("what the host registers is there, and comes back from the store")
    func registered() throws {
        let categories = try Categories(parsing: [
            [
                "id": "CHAT",
                "actions": [
                    ["id": "REPLY_ACTION", "title": "Reply", "kind": "reply", "placeholder": "…"],
                    ["id": "OPEN", "title": "Open", "foreground": true],
                    ["id": "DELETE", "title": "Delete", "destructive": true],
                ],
            ]
        ])
        let chat = try #require(categories["CHAT"])
        #expect(chat.actions.map(\.id) == ["REPLY_ACTION", "OPEN", "DELETE"])
        #expect(chat[action: "REPLY_ACTION"]?.kind == .reply && chat[action: "REPLY_ACTION"]?.placeholder == "…")
        #expect(chat[action: "OPEN"]?.isForeground == true && chat[action: "DELETE"]?.isDestructive == true)
        #expect(chat[action: "OPEN"]?.json["kind"] == "button" && chat[action: "x"] == nil && categories["x"] == nil)
        #expect(Categories(stored: categories.json) == categories)
        #expect(Categories(stored: "garbage") == Categories() && Categories(stored: [1]) == Categories())
    }

    private static func one(_ action: JSONValue) -> JSONValue { [["id": "A", "actions": [action]]] }

    private static let wrong: [(JSONValue, String?)] = [
        (nil, nil), ([:], nil), (.array(Array(repeating: ["id": "A"], count: 65)), nil),
        ([1], "0"), ([[:]], "0.id"), ([["id": ""]], "0.id"), ([["id": "a\n"]], "0.id"),
        ([["id": "A"], ["id": "A"]], "1.id"),
        ([["id": "A", "name": ""]], "0.name"), ([["id": "A", "actions": [:]]], "0.actions"),
        ([["id": "A", "actions": .array(Array(repeating: ["id": "a"], count: 9))]], "0.actions"),
        (one(1), "0.actions.0"), (one(["title": "t"]), "0.actions.0.id"), (one(["id": "a"]), "0.actions.0.title"),
        (one(["id": "default", "title": "t"]), "0.actions.0.id"),
        (one(["id": "dismiss", "title": "t"]), "0.actions.0.id"),
        (one(["id": "a", "title": "t", "kind": "menu"]), "0.actions.0.kind"),
        (one(["id": "a", "title": "t", "placeholder": "x"]), "0.actions.0.placeholder"),
        (one(["id": "REPLY_ACTION", "title": "t"]), "0.actions.0.kind"),
        (one(["id": "MARK_READ_ACTION", "title": "t", "kind": "reply"]), "0.actions.0.kind"),
        (one(["id": "a", "title": "t", "foreground": 1]), "0.actions.0.foreground"),
        (one(["id": "a", "title": "t", "icon": "x"]), "0.actions.0.icon"),
        ([["id": "A", "actions": [["id": "a", "title": "t"], ["id": "a", "title": "u"]]]], "0.actions.1.id"),
        (
            [
                [
                    "id": "A",
                    "actions": [
                        ["id": "a", "title": "t", "kind": "reply"], ["id": "b", "title": "u", "kind": "reply"],
                    ],
                ]
            ],
            "0.actions.1.kind"
        ),
    ]

    @Test("what cannot be is an error that says where", arguments: wrong)
    func errors(_ json: JSONValue, field: String?) {
        let error = #expect(throws: AlertsError.self) { try Categories(parsing: json) }
        #expect(error?.field == field)
    }

    @Test("64 of the host's and the built-in one survive a restart")
    func bound() throws {
        let all: [JSONValue] = (0..<64).map { ["id": .string("C\($0)")] }
        let categories = try Categories(parsing: .array(all))
        #expect(categories.all.count == 65 && Categories(stored: categories.json) == categories)
        let error = #expect(throws: AlertsError.self) { try Categories(parsing: .array(all + [["id": "more"]])) }
        #expect(error?.field == nil)
    }

    @Test("whatever a host gives is taken or refused", arguments: 0..<8 as Range<UInt64>)
    func hostile(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            var action = HostileJSON.object(
                of: ["id", "title", "kind", "placeholder", "foreground", "destructive"], &random)
            if Bool.random(using: &random) { action.merge(["id": "a", "title": "t"]) }
            let value: JSONValue = [["id": "A", "actions": [.object(action), HostileJSON.value(&random)]]]
            if let categories = try? Categories(parsing: value) {
                #expect(Categories(stored: categories.json) == categories)
            }
            _ = Categories(stored: HostileJSON.value(&random))
        }
    }
}
