import JSON
import TestSupport
import Testing

@testable import Wire

@Suite struct PayloadFuzzTests {
    private static let frames = [
        #"{"type":"chainlesschain:command:request","payload":"{\"id\":\"r\",\"method\":\"m\",\"params\":{\"a\":[1,2]}}"}"#,
        #"{"type":"chainlesschain:command:request","payload":{"id":"r","method":"m","auth":{"did":"d"},"expiresAt":5}}"#,
        #"{"type":"chainlesschain:command:response","payload":{"id":"r","error":{"code":-32603,"message":"x"}}}"#,
        #"{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n","title":"T","#
            + #""timestamp":1.5e12,"data":{"badge":"3","silenced":"true"},"pushSeq":7}}"#,
        #"{"type":"chainlesschain:event:notification","payload":"{\"method\":\"notification.received\",\"params\":"#
            + #"{\"id\":\"n\",\"urgency\":\"critical\"}}"}"#,
        #"{"type":"bellwire:ack","payload":{"pushSeq":9223372036854775807}}"#,
    ]

    @Test(
        "no frame with bytes changed, cut or doubled makes decoding fail, and what is written is read again",
        arguments: 1...40)
    func mutations(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<250 {
            var bytes = Array((PayloadFuzzTests.frames.randomElement(using: &random) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                guard !bytes.isEmpty else { break }
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0x20...0x7e, using: &random)
                case 1: bytes.remove(at: place)
                case 2:
                    bytes.insert(
                        contentsOf: Array("[]{}\":,0-9enull".utf8).shuffled(using: &random).prefix(2), at: place)
                case _: bytes.replaceSubrange(place..., with: bytes[..<place].suffix(9))
                }
            }
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            switch Payload(decoding: value) {
            case .request(let request):
                var again = request
                again.form = .object
                #expect(Payload(decoding: request.payload) == .request(again))
            case .event(let event):
                #expect(Payload(decoding: event.payload(as: .bellwire)) == .event(event))
                _ = Payload(decoding: event.payload(as: .deployedText))
            case .response(let response):
                guard case .response(let again) = Payload(decoding: response.payload(as: .bellwire)) else {
                    Issue.record("our own response is not read")
                    continue
                }
                #expect(again.id == response.id)
            case .cancel, .otherEvent, .pairAck, .pairingConfirmation, .pairingReject, .iceConfig, .bellwire, .other,
                .malformed:
                break
            }
        }
    }
}
