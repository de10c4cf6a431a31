import Hosting
import JSON
import Pairing
import Peering
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop
@testable import Device

/// Requests of desktops to a device: a targeted push, and everything else (WireDeployedRequests, "Requests to a device").
@Suite(.timeLimit(.minutes(1)))
struct DesktopRequestsTests {
    private static let id = "req-1735689600000-8c1f2a3b"

    @Test(
        "a targeted push is a request: the device takes it as a push, and answers it in the request's form",
        arguments: [
            (
                #"{"jsonrpc":"2.0","id":"req-1735689600000-8c1f2a3b","method":"notification.receive","params":{"id":"n-9","title":"Tea","body":"is ready","urgency":"critical","source":"pc","timestamp":1735689600000}}"#,
                #"{"id":"req-1735689600000-8c1f2a3b","result":{"success":true}}"#
            ),
            (
                #""{\"jsonrpc\":\"2.0\",\"id\":\"req-1735689600000-8c1f2a3b\",\"method\":\"notification.receive\",\"params\":{\"notificationId\":\"n-9\",\"title\":\"Tea\",\"body\":\"is ready\",\"priority\":\"urgent\",\"timestamp\":1735689600000}}""#,
                #""{\"jsonrpc\":\"2.0\",\"id\":\"req-1735689600000-8c1f2a3b\",\"result\":{\"success\":true}}""#
            ),
        ])
    func targeted(request: String, answer: String) async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        await desktop.send(text: Self.frame(request, to: did))
        let push = try await bench.host.push(from: bench.device)
        #expect(push["id"] == "n-9" && push["title"] == "Tea" && push["body"] == "is ready")
        #expect(push["priority"] == "urgent" && push["createdAt"] == 1_735_689_600_000)
        let answered = try await desktop.payload("chainlesschain:command:response")
        #expect(
            answered == (try JSONValue(parsing: #"{"type":"chainlesschain:command:response","payload":\#(answer)}"#)))
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("without an id of its own the request's is the push's: repeated, it is answered again, and is one push")
    func repeated() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        let request = #"{"jsonrpc":"2.0","id":"\#(Self.id)","method":"notification.receive","params":{"title":"Tea"}}"#
        for _ in 0..<2 {
            await desktop.send(text: Self.frame(request, to: did))
            let answer = try await desktop.payload("chainlesschain:command:response")
            #expect(answer["payload"]?["id"] == .string(Self.id) && answer["payload"]?["result"]?["success"] == true)
        }
        #expect(try await bench.host.push(from: bench.device)["id"] == .string(Self.id))
        #expect(try await bench.counter("admitted") == 1)
        #expect(try await bench.counter("duplicates") == 1)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test(
        "any other request, and one that can't be read, is answered with an error in its form",
        arguments: [
            (
                #"{"jsonrpc":"2.0","id":"r-1","method":"clipboard.read","params":{}}"#,
                #"{"id":"r-1","error":"this device has no such method"}"#
            ),
            (
                #""{\"jsonrpc\":\"2.0\",\"id\":\"r-1\",\"method\":\"clipboard.read\"}""#,
                #""{\"jsonrpc\":\"2.0\",\"id\":\"r-1\",\"error\":{\"code\":-32601,\"message\":\"this device has no such method\"}}""#
            ),
            (
                #"{"id":"r-1","method":"notification.receive","params":[]}"#,
                #"{"id":"r-1","error":"malformed request (wrong_type: params)"}"#
            ),
            (
                #"{"id":"r-1","method":"notification.receive","params":{"title":7}}"#,
                #"{"id":"r-1","error":"malformed event (wrong_type: title)"}"#
            ),
        ])
    func refused(request: String, answer: String) async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        await desktop.send(text: Self.frame(request, to: did))
        let answered = try await desktop.payload("chainlesschain:command:response")
        #expect(
            answered == (try JSONValue(parsing: #"{"type":"chainlesschain:command:response","payload":\#(answer)}"#)))
        #expect(try await bench.state["unread"] == 0)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("the program hears of a request with an unknown method, as before")
    func told() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        await desktop.send(text: Self.frame(#"{"id":"r-1","method":"clipboard.read"}"#, to: did))
        let command = try await bench.host.event(.command) { $0["type"] == "chainlesschain:command:request" }
        #expect(command["payload"]?["payload"]?["method"] == "clipboard.read")
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("a sealed desktop's request is a push without a number; the same in plain text in its name is nothing")
    func sealed() async throws {
        let bench = try await SealedBench()
        let payload: JSONValue = [
            "type": "chainlesschain:command:request",
            "payload": [
                "id": .string(Self.id), "method": "notification.receive",
                "params": ["notificationId": "n-9", "title": "Tea", "pushSeq": 7],
            ],
        ]
        #expect(await bench.desktop.core.send(payload, to: bench.deviceID, sealed: false))
        #expect(await bench.desktop.core.send(payload, to: bench.deviceID, sealed: true))
        #expect(try await bench.host.push(from: bench.device)["id"] == "n-9")
        // Its number is not counted: the first push of the outbox is still the first.
        try await bench.notify("First")
        #expect(try await bench.host.push(from: bench.device)["title"] == "First")
        #expect(try await bench.deviceState["counters"]?["admitted"] == 2)
        await bench.end()
    }

    private static func frame(_ request: String, to device: String) -> String {
        #"{"type":"message","to":"\#(device)","payload":{"type":"chainlesschain:command:request","payload":\#(request)}}"#
    }
}

extension DesktopSwitchboard {
    fileprivate func send(_ payload: JSONValue, to device: String, sealed: Bool) -> Bool {
        let peer = PeerID(device)
        return channel.send(payload, to: peer, sealed: sealed, over: routes.bestLink(to: peer)).isWritten
    }
}
