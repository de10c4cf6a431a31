import Foundation
import Hosting
import JSON
import TestSupport
import Testing
import Transport

@testable import Device

/// Answers of deployed desktops that say less, or something else, than those of a Bellwire desktop.
@Suite(.timeLimit(.minutes(1)))
struct DeployedAnswersTests {
    @Test(
        "a delete of a row that the desktop no longer has is done: called, and queued",
        arguments: [
            #"{"id":"ID","result":{"success":false,"error":"NOT_FOUND"}}"#,
            #""{\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"result\":{\"success\":false,\"error\":\"NOT_FOUND\"}}""#,
            #"{"id":"ID","error":"NOT_FOUND"}"#, #"{"id":"ID","error":{"code":-32002,"message":"NOT_FOUND"}}"#,
        ])
    func deleted(answer: String) async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        async let called = bench.invoke("notification.delete", ["notificationId": "n-1"])
        try await reply(answer, to: "notification.delete", of: did, by: desktop)
        #expect(try await called.get() == ["success": true, "deletedCount": 0, "error": "NOT_FOUND"])

        bench.device.perform(.stop)
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
        let queued = try await bench.invoke("notification.delete", ["notificationId": "n-2"]).get()
        #expect(queued["queued"] == true)
        bench.device.perform(.start)
        try await reply(answer, to: "notification.delete", of: did, by: desktop)
        let ended = try await bench.host.event(.queueEnded) { $0["id"] == queued["id"] }
        #expect(ended["outcome"] == "done")
        #expect(try await bench.device.value(.queue).array?.isEmpty == true)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("what else is not found stays an error")
    func notDeleted() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        for (method, answer, code) in [
            ("notification.delete", #"{"id":"ID","error":{"code":-32601,"message":"NOT_FOUND"}}"#, "unsupported"),
            ("notification.markAsRead", #"{"id":"ID","error":"NOT_FOUND"}"#, "remote"),
        ] {
            async let called = bench.invoke(method, ["notificationId": "n-1"])
            try await reply(answer, to: method, of: did, by: desktop)
            #expect(try await called.error?.code.name == code)
        }
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("a desktop that doesn't say whether its push was delivered is not quoted as saying so")
    func notSaid() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        async let sent = bench.invoke("notification.sendToMobile", ["title": "T", "body": ""])
        try await reply(
            #"{"id":"ID","result":{"success":true,"id":"n-1","timestamp":1735689600000}}"#,
            to: "notification.sendToMobile", of: did, by: desktop)
        #expect(try await sent.get() == ["success": true])
        await bench.device.close()
        await bench.relay.stop()
    }

    private func reply(_ answer: String, to method: String, of device: String, by desktop: RawPeer) async throws {
        let id = try #require(try await desktop.request(method)["id"]?.string)
        let payload = answer.replacingOccurrences(of: "ID", with: id)
        await desktop.send(
            text:
                #"{"type":"message","to":"\#(device)","payload":{"type":"chainlesschain:command:response","payload":\#(payload)}}"#
        )
    }
}
