import Hosting
import JSON
import Sharing
import TestSupport
import Testing

@testable import Desktop

/// Calls of other programs: their parameters are checked, whatever they are.
@Suite(.timeLimit(.minutes(1)))
struct DesktopRequestTests {
    private static let values: [JSONValue] = [
        .null, true, false, 0, -1, .integer(.max), .integer(.min), 1.5, "", "offer", "did:key:zNobody",
        #"{"title":"Tea","body":""}"#, "notification.markAllAsRead", "safe", [1], ["a": 1],
    ]

    private static func calls(_ name: String, _ random: inout SeededGenerator) -> [HostCall] {
        (0..<200).map { _ in
            let count = Int.random(in: 0...5, using: &random)
            return HostCall(name, (0..<count).map { _ in values.randomElement(using: &random) ?? .null })
        }
    }

    @Test("any arguments of any call give a result or an error", arguments: DesktopCall.allCases)
    func anything(_ name: DesktopCall) async throws {
        var random = SeededGenerator(seed: 7)
        let bench = try await Bench()
        for call in Self.calls(name.rawValue, &random) {
            do throws(HostError) {
                let start = try bench.desktop.prepare(call)
                try Desktop.check(call)
                _ = Desktop.timeout(of: call)
                // A code waits for its relay, which is slow to repeat.
                if !Desktop.starts(call) { _ = await reply(start) }
            } catch {
                #expect([.invalid, .undecodable, .unsupported].contains(error.code), "\(name): \(error.message)")
            }
        }
        await bench.end()
    }

    private func reply(_ start: SharableRole.Start) async -> Result<HostReply, HostError> {
        await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
    }

    @Test("an unknown call is unsupported")
    func unknown() {
        let error = #expect(throws: HostError.self) { try Desktop.check(HostCall("desktop.explode")) }
        #expect(error?.code == .unsupported)
    }

    @Test(
        "what is wrong is named",
        arguments: [
            (HostCall(.allow, "d", "notification", "everything"), "allowance"),
            (HostCall(.confirm, "nonsense", true), "flow"),
            (HostCall(.cancel, "nonsense"), "flow"), (HostCall(.notify, #"{"title":7}"#, 1_000), "title"),
            (HostCall(.invoke, "no.such", .null, 1_000), "method"),
            (HostCall(.invoke, "desktop.setGroup", #"{"name":""}"#, 1_000), "name"),
            (HostCall(.sealPush, "d", "", .null), "id"),
        ])
    func named(_ call: HostCall, _ field: String) {
        let error = #expect(throws: HostError.self) { try Desktop.check(call) }
        #expect(error?.detail["field"] == .string(field))
    }

    @Test("a guest's push and command get an id, by which they are repeated; a holder's get none unless it yields")
    func identified() throws {
        for call in [HostCall(.notify, "{}", 1_000), HostCall(.invoke, "notification.markAllAsRead", .null, 1_000)] {
            #expect(Desktop.repeated(call) == nil)
            #expect(Desktop.identified(call, stays: true) == call)
            let identified = Desktop.identified(call, stays: false)
            #expect(identified.arguments.dropLast() == call.arguments[...])
            #expect(identified.arguments.last?.string?.utf8.count == 32)
            #expect(Desktop.identified(identified, stays: false) == identified)
            #expect(Desktop.repeated(identified) == identified)
            #expect(Desktop.timeout(of: identified) == 1_000)
        }
        let tooLong = HostCall(
            .notify, #"{"title":"Tea","body":""}"#, 1_000, .string(String(repeating: "a", count: 65)))
        #expect(throws: HostError.self) { try Desktop.check(tooLong) }
    }

    @Test("what reads is repeated; what may have been executed is not", arguments: DesktopCall.allCases)
    func repeated(_ name: DesktopCall) {
        let call = Desktop.identified(HostCall(name.rawValue), stays: false)
        #expect((Desktop.repeated(call) != nil) == name.reads)
    }
}
