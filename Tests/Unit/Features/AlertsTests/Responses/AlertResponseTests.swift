import Alerts
import JSON
import Testing
import Wire

@Suite struct AlertResponseTests {
    private let chat = Categories.Category(
        id: "CHAT",
        actions: [
            .init(id: "REPLY_ACTION", title: "Reply", kind: .reply),
            .init(id: "OPEN", title: "Open", isForeground: true),
            .init(id: "MARK_READ_ACTION", title: "Read"),
        ])

    @Test("a tap and a dismissal answer any alert, all else is of its category")
    func kinds() throws {
        #expect(try AlertResponse(action: "default", text: nil, category: nil).kind == .tap)
        #expect(try AlertResponse(action: "default", text: "", category: nil).kind == .tap)
        #expect(try AlertResponse(action: "dismiss", text: nil, category: chat).kind == .dismiss)
        #expect(try AlertResponse(action: "OPEN", text: nil, category: chat).kind == .button)
        #expect(chat[action: "OPEN"]?.isForeground == true)
        #expect(try AlertResponse(action: "MARK_READ_ACTION", text: nil, category: chat).kind == .markRead)
        let remote = Categories()["REMOTE_NOTIFICATION"]
        #expect(try AlertResponse(action: "MARK_READ_ACTION", text: nil, category: remote).kind == .markRead)
        let reply = try AlertResponse(action: "REPLY_ACTION", text: "yes\n\u{202e}no", category: chat)
        #expect(reply.kind == .reply && reply.text == "yes\n\u{202e}no")
        #expect(chat[action: reply.action]?.isForeground == false)
        // A server without a field to write into.
        #expect(try AlertResponse(action: "REPLY_ACTION", text: nil, category: chat).text == nil)
    }

    @Test(
        "what the alert did not offer is an error",
        arguments: [
            ("", nil), ("OPEN ", nil), ("DELETE", nil), ("reply_action", "x"), ("OPEN", "x"), ("default", "x"),
            ("REPLY_ACTION", String(repeating: "x", count: 65_537)),
        ] as [(String, String?)])
    func errors(_ action: String, text: String?) {
        let error = #expect(throws: AlertsError.self) {
            try AlertResponse(action: action, text: text, category: chat)
        }
        #expect(
            error?.field == (action == "OPEN" || action == "default" || action == "REPLY_ACTION" ? "text" : "action"))
        for action in ["OPEN", "MARK_READ_ACTION", "REPLY_ACTION"] {
            #expect(throws: AlertsError.self) { try AlertResponse(action: action, text: nil, category: nil) }
        }
    }

    @Test("what the host gets has the user info and the deep link as they came")
    func data() throws {
        let content = AlertContent(
            title: "t", body: "b", category: "CHAT", thread: "remote.pc",
            userInfo: ["taskID": "17", "deepLink": "other"], deepLink: "javascript:alert(1)")
        func row(isLate: Bool) -> AlertRow {
            AlertRow(
                row: 1, key: AlertKey(desktop: "d", id: "n"), content: content, state: .delivered, source: "pc",
                isSilenced: false, isReminder: false, isLate: isLate, dueAt: 1, shownAt: 2, handle: nil)
        }
        let reply = try AlertResponse(action: "REPLY_ACTION", text: "yes", category: chat)
        #expect(
            reply.data(of: row(isLate: false), push: nil, at: 9) == [
                "id": "n", "action": "REPLY_ACTION", "text": "yes", "userInfo": .object(content.userInfo),
                "deepLink": "javascript:alert(1)", "category": "CHAT", "thread": "remote.pc", "title": "t",
                "respondedAt": 9,
            ])
        let late = reply.data(of: row(isLate: true), push: ["id": "n"], at: 9)
        #expect(late["late"] == true && late["push"] == ["id": "n"])
    }
}
