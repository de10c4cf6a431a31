import JSON
import Testing

@testable import Wire

/// Pushes as deployed desktops send them, and as deployed phones read ours (WireDeployedPeers, "What a device
/// accepts").
@Suite struct NotificationEventTests {
    private func event(_ text: String) throws -> NotificationEvent? {
        if case .event(let event) = Payload(decoding: try JSONValue(parsing: text)) { event } else { nil }
    }

    private func event(fields: String) throws -> NotificationEvent? {
        try event(#"{"type":"chainlesschain:event","payload":{"event":"notification.received",\#(fields)}}"#)
    }

    private func fault(fields: String) throws -> String? {
        let text = #"{"type":"chainlesschain:event","payload":{"event":"notification.received",\#(fields)}}"#
        guard case .malformed(let malformed) = Payload(decoding: try JSONValue(parsing: text)) else { return nil }
        return "\(malformed.reason.name) \(malformed.field ?? "")"
    }

    @Test("3: all three types of a push say the same")
    func shapes() throws {
        let expected = NotificationEvent(
            id: "n1", title: "Build", body: "done", priority: .high, source: .pc, timestamp: 1_700_000_000_000,
            data: ["job": "7"])
        let fields =
            #""notificationId":"n1","title":"Build","body":"done","priority":"high","source":"pc","#
            + #""timestamp":1700000000000,"data":{"job":"7"}"#
        let escaped = fields.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
        let frames = [
            #"{"type":"chainlesschain:event","payload":{"event":"notification.received",\#(fields)}}"#,
            #"{"type":"chainlesschain:event","payload":"{\"event\":\"notification.received\",\#(escaped)}"}"#,
            #"{"type":"chainlesschain:event:notification","payload":"#
                + #"{"method":"notification.received","params":{\#(fields)}}}"#,
            #"{"type":"chainlesschain:event:notification","payload":"#
                + #""{\"jsonrpc\":\"2.0\",\"method\":\"notification.received\",\"params\":{\#(escaped)}}"}"#,
            #"{"type":"chainlesschain:notification:received","payload":{\#(fields)}}"#,
            #"{"type":"chainlesschain:notification:received","payload":"{\#(escaped)}"}"#,
        ]
        for frame in frames { #expect(try event(frame) == expected, "\(frame)") }
    }

    @Test("4: id for notificationId, message for body, urgency for priority")
    func otherNames() throws {
        #expect(
            try event(fields: #""id":"n2","title":"T","message":"M","urgency":"critical""#)
                == NotificationEvent(id: "n2", title: "T", body: "M", priority: .urgent))
        #expect(
            try event(fields: #""id":"n2","notificationId":"n3","title":"T","body":"B","message":"M""#)
                == NotificationEvent(id: "n3", title: "T", body: "B"))
    }

    @Test("4: nothing for the body, and nothing for the timestamp")
    func absent() throws {
        #expect(
            try event(fields: #""notificationId":"n4","title":"T","body":null,"timestamp":null,"data":null"#)
                == NotificationEvent(id: "n4", title: "T"))
    }

    @Test(
        "4: each urgency, and a priority that is known wins over it",
        arguments: [
            (#""urgency":"low""#, Priority.low), (#""urgency":"normal""#, .normal), (#""urgency":"high""#, .high),
            (#""urgency":"critical""#, .urgent), (#""priority":"urgent""#, .urgent),
            (#""priority":"low","urgency":"critical""#, .low), (#""priority":"loud","urgency":"high""#, .high),
            (#""priority":"loud""#, .normal), (#""priority":3"#, .normal),
        ])
    func priorities(fields: String, priority: Priority) throws {
        #expect(try event(fields: #""notificationId":"n","title":"T",\#(fields)"#)?.priority == priority)
    }

    @Test(
        "4: any JSON number is a timestamp",
        arguments: [
            ("1700000000000", 1_700_000_000_000), ("1700000000000.75", 1_700_000_000_000),
            ("1.7e12", 1_700_000_000_000),
            ("-1", -1), ("0", 0),
        ])
    func timestamps(text: String, timestamp: Int64) throws {
        #expect(try event(fields: #""notificationId":"n","title":"T","timestamp":\#(text)"#)?.timestamp == timestamp)
    }

    @Test("4: data keeps values that are no texts, and may come as text itself")
    func data() throws {
        let data: JSONObject = ["count": 3, "deep": ["x": [1]], "on": true, "name": "n", "none": .null]
        #expect(
            try event(
                fields:
                    #""notificationId":"n","title":"T","data":{"count":3,"deep":{"x":[1]},"on":true,"name":"n","none":null}"#
            )?.data == data)
        #expect(try event(fields: #""notificationId":"n","title":"T","data":"{\"count\":3}""#)?.data == ["count": 3])
    }

    @Test(
        "an event without an id, or with a field of a wrong type, is named",
        arguments: [
            (#""title":"T""#, "missing_field notificationId"),
            (#""notificationId":null,"title":"T""#, "missing_field notificationId"),
            (#""notificationId":"","title":"T""#, "missing_field notificationId"),
            (#""notificationId":7,"title":"T""#, "wrong_type notificationId"),
            (#""notificationId":"n","title":7"#, "wrong_type title"),
            (#""notificationId":"n","title":"T","body":["x"]"#, "wrong_type body"),
            (#""notificationId":"n","title":"T","timestamp":"yesterday""#, "wrong_type timestamp"),
            (#""notificationId":"n","title":"T","timestamp":1e300"#, "wrong_type timestamp"),
            (#""notificationId":"n","title":"T","data":[1]"#, "wrong_type data"),
            (#""notificationId":"n","title":"T","data":"no json""#, "wrong_type data"),
            (#""notificationId":"n","title":"T","pushSeq":"1""#, "wrong_type pushSeq"),
        ])
    func malformed(fields: String, fault expected: String) throws {
        #expect(try fault(fields: fields) == expected)
    }

    @Test("an event without a name is named, but where the type says it")
    func nameless() throws {
        func payload(_ text: String) throws -> Payload { Payload(decoding: try JSONValue(parsing: text)) }
        #expect(
            try payload(#"{"type":"chainlesschain:event","payload":{"notificationId":"n"}}"#)
                == .malformed(MalformedPayload(.missingField, in: .event, field: "event")))
        #expect(
            try payload(#"{"type":"chainlesschain:event","payload":{"event":7}}"#)
                == .malformed(MalformedPayload(.wrongType, in: .event, field: "event")))
        #expect(
            try payload(#"{"type":"chainlesschain:event:notification","payload":{"params":{"id":"n"}}}"#)
                == .event(NotificationEvent(id: "n", title: "")))
    }

    @Test("other events come with their name and fields")
    func others() throws {
        let text = #"{"type":"chainlesschain:event","payload":{"event":"notification.read","ids":["n"],"readAt":5}}"#
        #expect(
            Payload(decoding: try JSONValue(parsing: text))
                == .otherEvent(name: "notification.read", ["event": "notification.read", "ids": ["n"], "readAt": 5]))
    }

    @Test("unknown fields are ignored")
    func unknown() throws {
        #expect(
            try event(fields: #""notificationId":"n","title":"T","flavour":{"x":1},"actions":[1,2]"#)
                == NotificationEvent(id: "n", title: "T"))
    }

    @Test("4.7: richer fields beside data win over those inside it, which may be texts")
    func richer() throws {
        let event = try event(
            fields: #""notificationId":"n","title":"T","silenced":false,"badge":3,"category":"beside","#
                + #""encrypted_body":{"nonce":"a","box":"b"},"data":{"silenced":"true","badge":"9","category":"inside","#
                + #""expiresAt":"1700000000000","imageUrl":"https://x/y.png","deepLink":"app://z","threadId":"t","#
                + #""subtitle":"s","sound":"bell","collapseKey":"k"}"#)
        var richer = RicherFields()
        richer.silenced = false
        richer.badge = 3
        richer.category = "beside"
        richer.encryptedBody = ["nonce": "a", "box": "b"]
        richer.expiresAt = 1_700_000_000_000
        richer.imageURL = "https://x/y.png"
        richer.deepLink = "app://z"
        richer.threadID = "t"
        richer.subtitle = "s"
        richer.sound = "bell"
        richer.collapseKey = "k"
        #expect(event?.richer == richer)
        #expect(event?.data?["badge"] == "9")
        #expect(RicherFields(beside: richer.members, inside: nil) == richer)
    }

    @Test("4.7: a richer field of another type is as good as absent")
    func richerWrongType() throws {
        let event = try event(fields: #""notificationId":"n","title":"T","silenced":"yes","badge":"x","sound":7"#)
        #expect(event?.richer.isEmpty == true)
    }

    private var push: NotificationEvent {
        var richer = RicherFields()
        richer.collapseKey = "k"
        return NotificationEvent(
            id: "n1", title: "T", body: "B", priority: .urgent, source: .pc, timestamp: 5,
            data: ["a": "x", "n": 1, "o": ["p": true], "z": .null], richer: richer, pushSeq: 9)
    }

    @Test("a push for a deployed iOS phone: an object, data text to text")
    func pushObject() {
        #expect(
            push.payload(as: .init(platform: "ios", isBellwire: false)).serialized()
                == #"{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n1","#
                + #""title":"T","body":"B","priority":"urgent","source":"pc","timestamp":5,"#
                + #""data":{"a":"x","n":"1","o":"{\"p\":true}"},"collapseKey":"k"}}"#)
    }

    @Test("a push for a deployed Android phone: a text of JSON-RPC")
    func pushText() throws {
        let payload = push.payload(as: .init(platform: "Android", isBellwire: false))
        #expect(payload["type"] == "chainlesschain:event:notification")
        let inner = try JSONValue(parsing: try #require(payload["payload"]?.string))
        #expect(inner["jsonrpc"] == "2.0")
        #expect(inner["method"] == "notification.received")
        #expect(inner["params"]?["notificationId"] == "n1")
        #expect(inner["params"]?["data"] == ["a": "x", "n": "1", "o": #"{"p":true}"#])
        #expect(inner["params"]?["pushSeq"] == nil)
    }

    @Test("a push for a Bellwire device is read back the same")
    func pushBellwire() {
        #expect(
            Payload(decoding: push.payload(as: .init(platform: "android", isBellwire: true))) == .event(push))
    }
}
