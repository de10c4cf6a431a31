import JSON
import Testing

@testable import NATS

/// Which streams can be a bucket of keys that are never forgotten.
@Suite struct JetStreamTests {
    private static let good: JSONObject = [
        "subjects": ["$KV.b.>"], "max_age": 0, "max_msgs": -1, "max_bytes": -1, "discard": "old",
        "retention": "limits", "storage": "file",
    ]

    @Test(
        arguments: [
            ([:], nil),
            (["max_bytes": 1_000_000, "discard": "new"], nil),
            (["subjects": ["other", "$KV.b.>"]], nil),
            (["subjects": []], "subjects"),
            (["subjects": ["$KV.c.>"]], "subjects"),
            (["max_age": 60_000_000_000], "max_age"),
            (["max_bytes": 1_000_000], "discard"),
            (["max_msgs": 1_000], "discard"),
            (["retention": "workqueue"], "retention"),
            (["storage": "memory"], "storage"),
        ] as [(JSONObject, String?)])
    func streamsThatForgetAreNamed(_ change: JSONObject, _ names: String?) {
        var configuration = Self.good
        configuration.merge(change)
        let fault = JetStream.fault(of: .object(configuration), bucket: "b")
        if let names { #expect(fault?.contains(names) == true, "\(fault ?? "none")") } else { #expect(fault == nil) }
    }

    @Test func messagesOfABucketAreReadAndDeletedOnesAreNot() throws {
        func value(_ json: String) throws -> [UInt8]? {
            try JetStream.value(of: try JSONValue(parsing: json)).get()
        }
        #expect(try value(#"{"data":"aGk=","seq":3}"#) == Array("hi".utf8))
        #expect(try value(#"{"seq":3}"#) == [])
        // NATS/1.0, "KV-Operation: DEL"
        #expect(try value(#"{"data":"","hdrs":"TkFUUy8xLjANCktWLU9wZXJhdGlvbjogREVMDQoNCg=="}"#) == nil)
        for text in ["1", "[]", #"{"data":1}"#, #"{"data":"%"}"#, #"{"hdrs":"aGk="}"#] {
            #expect(throws: NATSError.self) { try value(text) }
        }
        #expect(throws: NATSError.self) { try JetStream.value(of: nil).get() }
    }

    @Test func anAnswerWithoutAConfigurationIsNoBucket() {
        #expect(JetStream.fault(of: nil, bucket: "b") != nil && JetStream.fault(of: 1, bucket: "b") != nil)
    }
}
