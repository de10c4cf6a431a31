import Testing
import Wire

@testable import Commands

@Suite struct CommandErrorTests {
    @Test(
        "refusals are mapped by number, and by text where deployed peers use one number for several things",
        arguments: [
            (Int64?(-32600), "", "remote"), (-32601, "Method not found", "unsupported"), (-32602, "bad", "remote"),
            (-32603, "boom", "remote"), (-32000, "", "timeout"), (-32001, "Permission denied", "denied"),
            (-32001, "No handler registered for notification", "unsupported"), (-32002, "Cancelled", "cancelled"),
            (-32002, "", "cancelled"), (-32002, "Handler error: disk", "remote"), (-32010, "", "denied"),
            (4711, "whatever", "remote"), (nil, "Permission denied for device", "denied"),
            (nil, "Command timeout", "timeout"), (nil, "Request timed out", "timeout"),
            (nil, "Unknown method: x", "unsupported"), (nil, "Canceled", "cancelled"), (nil, "boom", "remote"),
            (nil, "", "remote"),
        ])
    func mapping(number: Int64?, text: String, code: String) {
        let error = CommandError(remote: RemoteError(number.map(ErrorCode.init), text))
        #expect(error.code.name == code)
        #expect(error.remote?.message == text)
        #expect(!error.lacksSkill)
    }

    @Test(
        "8: a desktop without the whole skill is told apart from one that failed",
        arguments: [
            (Int64?(-32603), "Unknown command namespace: notification", true),
            (nil, "unknown command namespace", true),
            (-32603, "Internal: Unknown command namespace", false),
            (-32602, "Unknown command namespace", false),
        ])
    func lacksSkill(number: Int64?, text: String, lacks: Bool) {
        let error = CommandError(remote: RemoteError(number.map(ErrorCode.init), text))
        #expect(error.lacksSkill == lacks)
        #expect((error.code == .unsupported) == lacks)
    }

    @Test("our message does not repeat the peer's")
    func silence() {
        #expect(!CommandError(remote: RemoteError(nil, "hunter2")).description.contains("hunter2"))
    }
}
