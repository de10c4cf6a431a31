import JSON
import Testing
import Wire

@testable import Alerts

@Suite("What push services bring")
struct PushServicePayloadTests {
    private func decode(_ text: String) throws -> PushServicePayload? {
        PushServicePayload.decode(try #require(try JSONValue(parsing: text).object))
    }

    private func decoded(_ text: String) throws -> PushServicePayload { try #require(try decode(text)) }

    // MARK: APNs

    @Test("An APNs alert is a text, which is the body, or a title, a subtitle and a body")
    func alerts() throws {
        let text = try decoded(#"{"aps":{"alert":"Hello"}}"#)
        #expect(text.kind == .alert && text.title == "" && text.body == "Hello" && text.richer.subtitle == nil)
        let parts = try decoded(#"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"}}}"#)
        #expect(parts.title == "T" && parts.richer.subtitle == "S" && parts.body == "B")
        #expect(try decoded(#"{"aps":{"alert":{"title":"T"}}}"#).kind == .alert)
        #expect(try decoded(#"{"aps":{"alert":{"title-loc-key":"GREETING","loc-key":"TEXT"}}}"#).body == "TEXT")
    }

    @Test("Badge, sound, category, thread and the program's own members come over")
    func members() throws {
        let payload = try decoded(
            #"""
            {"aps":{"alert":"x","badge":3,"sound":"chime","category":"TASK","thread-id":"list"},
             "taskID":"42","notificationId":"n1","desktop":"did:key:z1","deepLink":"app://task/42","data":{"taskID":"43","more":[1]}}
            """#)
        #expect(
            payload.richer.badge == 3 && payload.richer.sound == "chime" && payload.richer.category == "TASK"
                && payload.richer.threadID == "list")
        #expect(payload.id == "n1" && payload.desktop == "did:key:z1" && payload.richer.deepLink == "app://task/42")
        #expect(payload.data["taskID"] == "43" && payload.data["more"] == [1] && payload.data["aps"] == nil)
        #expect(try decoded(#"{"aps":{"alert":"x"},"taskID":42}"#).data == ["taskID": 42])
        #expect(
            try decoded(#"{"aps":{"alert":"x","sound":{"critical":1,"name":"bell","volume":1}}}"#).richer.sound
                == "bell")
        #expect(try decoded(#"{"aps":{"alert":"x"}}"#).richer.sound == "none")
        #expect(try decoded(#"{"aps":{"alert":"x"},"data":{"deep_link":"b"}}"#).richer.deepLink == "b")
        #expect(try decoded(#"{"aps":{"alert":"x"},"deep_link":"b","data":{"deepLink":"a"}}"#).richer.deepLink == "a")
    }

    @Test(
        "The interruption level decides how much it interrupts",
        arguments: [
            ("passive", .passive), ("active", .active), ("time-sensitive", .timeSensitive),
            ("critical", .timeSensitive),
            ("unheard of", .active),
        ] as [(String, AlertLevel)])
    func levels(name: String, level: AlertLevel) throws {
        #expect(try decoded(#"{"aps":{"alert":"x","interruption-level":"\#(name)"}}"#).level == level)
        #expect(try decoded(#"{"aps":{"alert":"x"},"data":{"priority":"urgent"}}"#).level == .timeSensitive)
        #expect(try decoded(#"{"aps":{"alert":"x"},"data":{"urgency":"critical"}}"#).priority == .urgent)
    }

    @Test("A badge alone is the badge and nothing else; 0 clears it")
    func badges() throws {
        #expect(try decoded(#"{"aps":{"badge":0}}"#).kind == .badge)
        #expect(try decoded(#"{"aps":{"badge":0}}"#).richer.badge == 0)
        #expect(try decoded(#"{"aps":{"badge":7,"alert":""}}"#).kind == .badge)
        #expect(try decoded(#"{"aps":{"badge":7,"alert":"x"}}"#).kind == .alert)
        #expect(try decode(#"{"aps":{"badge":-1}}"#) == nil)
        #expect(try decoded(#"{"aps":{"badge":7,"content-available":1}}"#).kind == .silent)
        #expect(try decoded(#"{"aps":{"badge":7,"content-available":1}}"#).richer.badge == 7)
    }

    @Test("content-available alone is silent; with an alert it is both")
    func contentAvailable() throws {
        for value in ["1", "true", "\"1\"", "1.0"] {
            let silent = try decoded(#"{"aps":{"content-available":\#(value)},"sync":"all"}"#)
            #expect(silent.kind == .silent && silent.isContentAvailable && silent.data == ["sync": "all"])
            let both = try decoded(#"{"aps":{"alert":"x","content-available":\#(value)}}"#)
            #expect(both.kind == .alert && both.isContentAvailable)
        }
        for value in ["0", "false", "null", "2", "[]"] {
            #expect(try decode(#"{"aps":{"content-available":\#(value)}}"#) == nil)
        }
    }

    @Test("What is urgent and says something is never silent")
    func urgent() throws {
        for urgency in [
            #""aps":{"content-available":1,"interruption-level":"critical"},"data":{"title":"Fire","body":"Out"}"#,
            #""aps":{"content-available":1},"data":{"title":"Fire","body":"Out","priority":"urgent"}"#,
            #""aps":{"content-available":1},"title":"Fire","message":"Out","urgency":"critical""#,
            #""data":{"title":"Fire","body":"Out","priority":"urgent"}"#,
        ] {
            let payload = try decoded("{\(urgency)}")
            #expect(payload.kind == .alert && payload.title == "Fire" && payload.body == "Out")
            #expect(payload.level == .timeSensitive)
            // FCM's data that is shown is no work besides, unless it says so.
            #expect(payload.isContentAvailable == urgency.contains("content-available"))
        }
        #expect(try decoded(#"{"aps":{"content-available":1},"data":{"title":"x"}}"#).kind == .silent)
        #expect(try decoded(#"{"aps":{"content-available":1,"interruption-level":"critical"}}"#).kind == .silent)
    }

    @Test("Images and encrypted bodies of an APNs payload count when it is mutable only")
    func mutable() throws {
        let rest = #""imageUrl":"https://a.test/x.png","encrypted_body":{"nonce":"a","box":"b"}}"#
        let plain = try decoded(#"{"aps":{"alert":"x"},\#(rest)"#)
        #expect(plain.richer.imageURL == nil && plain.richer.encryptedBody == nil && !plain.isMutable)
        #expect(plain.event(id: "1").richer.imageURL == nil)
        let mutable = try decoded(#"{"aps":{"alert":"x","mutable-content":1},\#(rest)"#)
        #expect(
            mutable.richer.imageURL == "https://a.test/x.png"
                && mutable.richer.encryptedBody == ["nonce": "a", "box": "b"])
        #expect(mutable.event(id: "1").richer.imageURL == "https://a.test/x.png")
    }

    // MARK: FCM

    @Test("An FCM message becomes the same content")
    func fcm() throws {
        let payload = try decoded(
            #"""
            {"notification":{"title":"T","body":"B","image":"https://a.test/","click_action":"TASK","tag":"k","badge":"4","sound":"chime"},
             "fcm_options":{"image":"http://a.test/"},
             "data":{"taskID":"42","notificationId":"n1","desktop":"d1","threadId":"list","deep_link":"app://x","urgency":"critical"}}
            """#)
        #expect(payload.kind == .alert && payload.title == "T" && payload.body == "B")
        #expect(
            payload.richer.badge == 4 && payload.richer.sound == "chime" && payload.richer.category == "TASK"
                && payload.richer.threadID == "list")
        #expect(
            payload.richer.collapseKey == "k" && payload.richer.deepLink == "app://x" && payload.level == .timeSensitive
        )
        #expect(payload.id == "n1" && payload.desktop == "d1" && payload.richer.imageURL == "https://a.test/")
        #expect(payload.data["taskID"] == "42" && payload.data.count == 6)
        #expect(try decoded(#"{"message":{"notification":{"title":"T"}}}"#).title == "T")
        #expect(try decoded(#"{"notification":{"notification_count":2}}"#).kind == .badge)
    }

    @Test("Data alone is for the program, unless it is a push of ours")
    func dataAlone() throws {
        #expect(try decoded(#"{"data":{"title":"T","body":"B"}}"#).kind == .silent)
        let ours = try decoded(#"{"data":{"notificationId":"n1","title":"T","body":"B","imageUrl":"https://a.test/"}}"#)
        #expect(ours.kind == .alert && ours.title == "T" && ours.richer.imageURL == "https://a.test/")
        #expect(try decoded(#"{"data":{"notificationId":"n1"}}"#).kind == .silent)
        #expect(try decoded(#"{"notification":{},"data":{"x":"1"}}"#).kind == .silent)
    }

    // MARK: Neither

    @Test(
        "What is neither is nothing",
        arguments: [
            "{}", #"{"aps":null}"#, #"{"aps":"x"}"#, #"{"aps":[]}"#, #"{"aps":{}}"#, #"{"aps":{"alert":7}}"#,
            #"{"aps":{"alert":[]}}"#, #"{"aps":{"sound":"default"}}"#, #"{"notification":"x"}"#,
            #"{"notification":{}}"#,
            #"{"data":"x"}"#, #"{"data":{}}"#, #"{"message":{}}"#, #"{"title":"x","body":"y"}"#, #"{"badge":1}"#,
        ])
    func nothing(payload: String) throws {
        #expect(try decode(payload) == nil)
    }

    @Test("Members of wrong types are as good as absent")
    func wrongTypes() throws {
        let payload = try decoded(
            #"""
            {"aps":{"alert":{"title":{},"subtitle":7,"body":"B"},"badge":"x","sound":[],"category":1,"thread-id":{},
             "interruption-level":3,"mutable-content":"yes"},"data":[],"notificationId":5,"desktop":null,"deepLink":{"a":1}}
            """#)
        #expect(payload.kind == .alert && payload.title == "" && payload.body == "B" && payload.richer.subtitle == nil)
        #expect(
            payload.richer.badge == nil && payload.richer.sound == "none" && payload.richer.category == nil
                && payload.richer.threadID == nil)
        #expect(payload.id == nil && payload.desktop == nil && payload.richer.deepLink == nil && !payload.isMutable)
        #expect(try decoded(#"{"aps":{"badge":1e300,"alert":"x"}}"#).richer.badge == nil)
        #expect(try decoded(#"{"aps":{"badge":"9223372036854775808","alert":"x"}}"#).richer.badge == nil)
    }

    @Test("The push that it becomes says the same")
    func event() throws {
        let payload = try decoded(
            #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"badge":1,"category":"C","thread-id":"t"},"taskID":"4"}"#
        )
        let event = payload.event(id: "n9")
        #expect(event.id == "n9" && event.title == "T" && event.body == "B" && event.data == ["taskID": "4"])
        #expect(event.richer.subtitle == "S" && event.richer.badge == 1 && event.richer.category == "C")
        #expect(event.richer.threadID == "t" && event.richer.sound == "none")
    }
}
