import JSON
import Testing

@testable import Wire

@Suite struct StateEventTests {
    @Test(
        "each event is its literal frame, and is read back from it",
        arguments: [
            (
                StateEvent.read(["a", "b"], at: 5),
                #"{"type":"chainlesschain:event","payload":{"event":"notification.read","ids":["a","b"],"readAt":5}}"#
            ),
            (
                .deleted(["a"]),
                #"{"type":"chainlesschain:event","payload":{"event":"notification.deleted","ids":["a"]}}"#
            ),
            (
                .cleared(before: 7),
                #"{"type":"chainlesschain:event","payload":{"event":"notification.cleared","before":7}}"#
            ),
            (
                .settingsChanged(["enabled": false], revision: 3),
                #"{"type":"chainlesschain:event","payload":{"event":"settings.changed","settings":{"enabled":false},"#
                    + #""revision":3}}"#
            ),
        ])
    func literal(event: StateEvent, frame: String) throws {
        #expect(event.payload.serialized() == frame)
        guard case .otherEvent(let name, let fields) = Payload(decoding: try JSONValue(parsing: frame)) else {
            Issue.record("not an event")
            return
        }
        #expect(try StateEvent(name: name, fields) == event)
    }

    @Test("another event is none of these")
    func other() throws { #expect(try StateEvent(name: "clipboard.changed", ["ids": 7]) == nil) }

    @Test(
        "an event that cannot be read names its field",
        arguments: [
            ("notification.read", ["readAt": 5], "ids"), ("notification.read", ["ids": ["a"]], "readAt"),
            ("notification.read", ["ids": [7], "readAt": 5], "ids"),
            ("notification.read", ["ids": [""], "readAt": 5], "ids"),
            ("notification.deleted", ["ids": "a"], "ids"), ("notification.cleared", ["before": "now"], "before"),
            ("settings.changed", ["revision": 1], "settings"), ("settings.changed", ["settings": [:]], "revision"),
        ] as [(String, JSONObject, String)])
    func malformed(name: String, fields: JSONObject, field: String) {
        let error = #expect(throws: MalformedPayload.self) { try StateEvent(name: name, fields) }
        #expect(error?.kind == .event)
        #expect(error?.field == field)
    }
}
