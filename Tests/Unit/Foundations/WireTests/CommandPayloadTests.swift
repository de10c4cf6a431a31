import JSON
import Testing

@testable import Wire

/// Payloads between deployed peers and us, frame by frame (WireDeployedPeers, "What a device accepts").
@Suite struct CommandPayloadTests {
    private func decode(_ text: String) throws -> Payload { Payload(decoding: try JSONValue(parsing: text)) }

    private func request(_ text: String) throws -> CommandRequest? {
        if case .request(let request) = try decode(text) { request } else { nil }
    }

    private func response(_ text: String) throws -> CommandResponse? {
        if case .response(let response) = try decode(text) { response } else { nil }
    }

    private func malformed(_ text: String) throws -> MalformedPayload? {
        if case .malformed(let malformed) = try decode(text) { malformed } else { nil }
    }

    @Test("1: an iOS request, its payload an object, is read and its form kept")
    func objectRequest() throws {
        let request = try request(
            #"{"type":"chainlesschain:command:request","payload":{"id":"r1","method":"notification.getHistory","#
                + #""params":{"limit":50},"auth":{"mobileDid":"did:key:z6Mk1"}}}"#)
        #expect(request?.id == "r1")
        #expect(request?.method == "notification.getHistory")
        #expect(request?.params == ["limit": 50])
        #expect(request?.auth == ["mobileDid": "did:key:z6Mk1"])
        #expect(request?.form == .object)
    }

    @Test("1: an Android request, its payload a text, is read and its form kept")
    func textRequest() throws {
        let request = try request(
            #"{"type":"chainlesschain:command:request","payload":"{\"jsonrpc\":\"2.0\",\"id\":\"r2\","#
                + #"\"method\":\"notification.markAsRead\",\"params\":{\"notificationId\":\"n\"},"#
                + #"\"auth\":{\"did\":\"did:key:z6Mk2\"}}"}"#)
        #expect(request?.id == "r2")
        #expect(request?.params == ["notificationId": "n"])
        #expect(request?.form == .text)
    }

    @Test("1: a whole payload that came as text is read as well")
    func wholeText() throws {
        let inner = #"{"type":"chainlesschain:command:cancel","payload":{"id":"r3"}}"#
        #expect(Payload(decoding: .string(inner)) == .cancel(CommandCancel(id: "r3")))
    }

    @Test(
        "2: error as a text, as an object, or null beside a result; neither is success",
        arguments: [
            (#""error":"boom""#, CommandResponse.Outcome.error(RemoteError(nil, "boom"))),
            (
                #""error":{"code":-32602,"message":"bad","data":{"field":"title"}}"#,
                .error(RemoteError(.invalidParams, "bad", data: ["field": "title"]))
            ),
            (#""result":{"success":true},"error":null"#, .result(["success": true])),
            (#""jsonrpc":"2.0""#, .result([:])),
            (#""result":null"#, .result([:])),
            (#""result":{"success":true},"error":"late""#, .error(RemoteError(nil, "late"))),
            (#""error":-32601"#, .error(RemoteError(.methodNotFound, ""))),
            (#""error":{}"#, .error(RemoteError(nil, ""))),
        ])
    func outcomes(members: String, outcome: CommandResponse.Outcome) throws {
        let response = try response(
            #"{"type":"chainlesschain:command:response","payload":{"id":"r1",\#(members)}}"#)
        #expect(response == CommandResponse(id: "r1", outcome: outcome))
    }

    @Test("2: a response whose payload is a text")
    func textResponse() throws {
        let response = try response(
            #"{"type":"chainlesschain:command:response","payload":"{\"jsonrpc\":\"2.0\",\"id\":\"r1\",\"result\":{}}"}"#
        )
        #expect(response == CommandResponse(id: "r1", outcome: .result([:])))
    }

    @Test("8: the deployed desktop's refusal of the whole skill keeps its number and text")
    func unknownNamespace() throws {
        let response = try response(
            #"{"type":"chainlesschain:command:response","payload":{"jsonrpc":"2.0","id":"r1","#
                + #""error":{"code":-32603,"message":"Unknown command namespace: notification"}}}"#)
        #expect(
            response?.outcome == .error(RemoteError(.internalError, "Unknown command namespace: notification")))
    }

    @Test(
        "what is no payload has a name",
        arguments: [
            ("[]", "not_an_object"), ("null", "not_an_object"), ("7", "not_an_object"), (#""x""#, "not_json"),
            (#""[1]""#, "not_an_object"), ("{}", "missing_type"), (#"{"type":7}"#, "missing_type"),
            (#"{"type":""}"#, "missing_type"),
            (#"{"type":"chainlesschain:command:request"}"#, "missing_field"),
            (#"{"type":"chainlesschain:command:request","payload":[]}"#, "not_an_object"),
            (#"{"type":"chainlesschain:command:request","payload":"{\"id\":1,\"id\":2}"}"#, "not_json"),
            (#"{"type":"chainlesschain:command:request","payload":{}}"#, "missing_field"),
            (#"{"type":"chainlesschain:command:request","payload":{"id":7,"method":"m"}}"#, "wrong_type"),
            (#"{"type":"chainlesschain:command:response","payload":{"result":{}}}"#, "missing_field"),
            (#"{"type":"chainlesschain:command:cancel","payload":{"id":""}}"#, "missing_field"),
            (#"{"type":"chainlesschain:ice:config"}"#, "missing_field"),
        ])
    func malformedPayloads(text: String, reason: String) throws {
        #expect(try malformed(text)?.reason.name == reason)
    }

    @Test("a bad request with an id can still be answered, in its own form")
    func answerable() throws {
        let noMethod = try malformed(#"{"type":"chainlesschain:command:request","payload":"{\"id\":\"r9\"}"}"#)
        #expect(noMethod?.request == AnswerableRequest(id: "r9", form: .text))
        #expect(noMethod?.field == "method")
        let badParams = try malformed(
            #"{"type":"chainlesschain:command:request","payload":{"id":"r9","method":"m","params":[1]}}"#)
        #expect(badParams?.request == AnswerableRequest(id: "r9", form: .object))
        #expect(badParams?.field == "params")
        #expect(
            badParams?.refusal?.outcome
                == .error(RemoteError(.invalidRequest, "malformed request (wrong_type: params)")))
        #expect(try malformed("{}")?.refusal == nil)
    }

    @Test("a text nested 10,000 deep is named, and nothing overflows")
    func deep() throws {
        let deep = String(repeating: "[", count: 10_000)
        let payload: JSONValue = ["type": "chainlesschain:command:request", "payload": .string(deep)]
        guard case .malformed(let malformed) = Payload(decoding: payload) else { Issue.record("accepted"); return }
        #expect(malformed.reason == .notJSON)
    }

    @Test("a message about a malformed payload never repeats it")
    func silence() throws {
        let text = #"{"type":"chainlesschain:command:request","payload":"hunter2"}"#
        #expect(try malformed(text)?.description.contains("hunter2") == false)
    }

    @Test("pairing frames are kept whole, ICE and Bellwire payloads by their inner object")
    func raw() throws {
        let ack = #"{"type":"pair-ack","pairingCode":"012345","mobileDid":"did:key:z"}"#
        #expect(try decode(ack) == .pairAck(["type": "pair-ack", "pairingCode": "012345", "mobileDid": "did:key:z"]))
        #expect(
            try decode(#"{"type":"pairing:confirmation","pairingCode":"1"}"#)
                == .pairingConfirmation(["type": "pairing:confirmation", "pairingCode": "1"]))
        #expect(try decode(#"{"type":"pairing:reject"}"#) == .pairingReject(["type": "pairing:reject"]))
        #expect(
            try decode(#"{"type":"chainlesschain:ice:config","payload":"{\"pcPeerId\":\"p\"}"}"#)
                == .iceConfig(["pcPeerId": "p"]))
        #expect(
            try decode(#"{"type":"bellwire:ack","payload":{"pushSeq":3}}"#)
                == .bellwire(type: "bellwire:ack", ["pushSeq": 3]))
        #expect(try decode(#"{"type":"bellwire:unpair"}"#) == .bellwire(type: "bellwire:unpair", [:]))
        #expect(try decode(#"{"type":"chat","x":1}"#) == .other(type: "chat", ["type": "chat", "x": 1]))
    }

    @Test("a request that we write is read back the same, and is written as deployed desktops expect")
    func requestEncoding() throws {
        let request = CommandRequest(
            id: "r1", method: "notification.getUnreadCount", auth: ["mobileDid": "d"], expiresAt: 1_700_000_030_000)
        #expect(
            request.payload.serialized()
                == #"{"type":"chainlesschain:command:request","payload":{"id":"r1","#
                + #""method":"notification.getUnreadCount","params":{},"auth":{"mobileDid":"d"},"#
                + #""expiresAt":1700000030000}}"#)
        #expect(Payload(decoding: request.payload) == .request(request))
        #expect(Payload(decoding: CommandCancel(id: "r1").payload) == .cancel(CommandCancel(id: "r1")))
    }

    @Test("an answer mirrors its request: a text for a text")
    func mirrorText() {
        let form = CommandResponse.Form(.text, isBellwire: false)
        #expect(form == .mirrorText)
        #expect(
            CommandResponse(id: "r1", outcome: .result(["success": true])).payload(as: form).serialized()
                == #"{"type":"chainlesschain:command:response","#
                + #""payload":"{\"jsonrpc\":\"2.0\",\"id\":\"r1\",\"result\":{\"success\":true}}"}"#)
        #expect(
            CommandResponse(id: "r1", outcome: .error(RemoteError(.invalidParams, "bad"))).payload(as: form)
                .serialized()
                == #"{"type":"chainlesschain:command:response","payload":"{\"jsonrpc\":\"2.0\",\"id\":\"r1\","#
                + #"\"error\":{\"code\":-32602,\"message\":\"bad\"}}"}"#)
    }

    @Test("an answer mirrors its request: an object for an object, the error a text, never both keys")
    func mirrorObject() {
        let form = CommandResponse.Form(.object, isBellwire: false)
        #expect(form == .mirrorObject)
        #expect(
            CommandResponse(id: "r1", outcome: .result(["success": true])).payload(as: form).serialized()
                == #"{"type":"chainlesschain:command:response","payload":{"id":"r1","result":{"success":true}}}"#)
        #expect(
            CommandResponse(id: "r1", outcome: .error(RemoteError(.denied, "no"))).payload(as: form).serialized()
                == #"{"type":"chainlesschain:command:response","payload":{"id":"r1","error":"no"}}"#)
    }

    @Test("a Bellwire device gets an object with an error object, whatever form it wrote")
    func bellwireForm() {
        for written in [PayloadForm.text, .object] {
            let form = CommandResponse.Form(written, isBellwire: true)
            #expect(
                CommandResponse(id: "r1", outcome: .error(RemoteError(.denied, "no"))).payload(as: form).serialized()
                    == #"{"type":"chainlesschain:command:response","payload":{"jsonrpc":"2.0","id":"r1","#
                    + #""error":{"code":-32010,"message":"no"}}}"#)
        }
    }
}
