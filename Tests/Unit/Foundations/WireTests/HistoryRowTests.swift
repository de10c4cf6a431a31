import JSON
import Testing

@testable import Wire

@Suite struct HistoryRowTests {
    private func row(_ text: String) throws -> HistoryRow { try HistoryRow(decoding: JSONValue(parsing: text)) }

    @Test("5: a row of a deployed desktop's database")
    func databaseRow() throws {
        let text =
            #"{"id":"n1","title":"T","body":"B","urgency":"critical","read":1,"created_at":1700000000000,"#
            + #""read_at":1700000000001.5,"data":"{\"k\":\"v\"}","user_id":null,"type":"system"}"#
        #expect(
            try row(text)
                == HistoryRow(
                    id: "n1", title: "T", body: "B", priority: .urgent, read: true, createdAt: 1_700_000_000_000,
                    readAt: 1_700_000_000_001, data: ["k": "v"]))
    }

    @Test("5: an item of ours, with data as an object")
    func item() throws {
        let text =
            #"{"id":"n1","title":"T","body":"B","priority":"low","read":false,"source":"mobile","createdAt":5,"#
            + #""data":{"k":1}}"#
        let expected = HistoryRow(
            id: "n1", title: "T", body: "B", priority: .low, source: .mobile, createdAt: 5, data: ["k": 1])
        #expect(try row(text) == expected)
        #expect(
            JSONValue.object(expected.item(isBellwire: true)).serialized()
                == #"{"id":"n1","title":"T","body":"B","priority":"low","read":false,"source":"mobile","createdAt":5,"#
                + #""data":{"k":1}}"#)
        #expect(expected.item(isBellwire: false)["data"] == ["k": "1"])
    }

    @Test("only the id is required")
    func minimal() throws {
        #expect(try row(#"{"id":"n"}"#) == HistoryRow(id: "n", title: ""))
        #expect(
            try row(#"{"notificationId":"n","message":"M","source":"moon","data":""}"#)
                == HistoryRow(id: "n", title: "", body: "M"))
    }

    @Test(
        "a row that cannot be read is an error",
        arguments: [
            "7", "{}", #"{"id":7}"#, #"{"id":"n","title":[]}"#, #"{"id":"n","read":"yes"}"#, #"{"id":"n","data":"x"}"#,
            #"{"id":"n","created_at":"now"}"#,
        ])
    func bad(text: String) throws {
        let value = try JSONValue(parsing: text)
        #expect(throws: MalformedPayload.self) { try HistoryRow(decoding: value) }
    }
}
