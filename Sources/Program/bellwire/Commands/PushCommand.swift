import Glibc
import JSON

/// The command of `bellwire listen --exec`: run for each push, one after the other.
final class PushCommand {
    private let words: [String]
    /// In milliseconds.
    private let limit: Int64?
    private let json: Bool
    /// How many runs ended with anything but 0.
    private(set) var failures = 0

    init(_ words: [String], limit: Int32?, json: Bool) {
        self.words = words
        self.limit = limit.map(Int64.init)
        self.json = json
    }

    /// Runs it inside the callback that received the push, so that the push is done only afterwards.
    ///
    /// - Returns: the signal that arrived while the command ran, if the command finished anyway.
    func run(_ event: JSONValue, desktop: String) -> Int32? {
        let data = event["data"] ?? .null
        let outcome: ChildProcess.Outcome
        do throws(Failure) {
            let child = try ChildProcess(
                words, environment: variables(of: event, data, desktop: desktop), input: event.serialized() + "\n",
                output: json ? 2 : 1)
            outcome = child.wait(limit: limit)
        } catch {
            // If the command never started, the push is not done: exiting inside dispatch makes it come again.
            Output.failure(error, json: json)
            _exit(error.exit.code)
        }
        if let signal = outcome.interruption, outcome.code != 0 {
            let message = "interrupted: the command was killed; its push comes again next time"
            Output.failure(Failure(.interrupted(signal), message), json: json)
            _exit(Exit.interrupted(signal).code)
        }
        say(outcome, id: data["id"]?.string ?? "")
        return outcome.interruption
    }

    private func say(_ outcome: ChildProcess.Outcome, id: String) {
        if outcome.code != 0 || outcome.isOverTime { failures += 1 }
        if json {
            return Output.json([
                "event": "exec",
                "data": [
                    "id": .string(id), "code": .integer(Int64(outcome.code)), "overTime": .bool(outcome.isOverTime),
                ],
            ])
        }
        if outcome.isOverTime {
            Output.notice("the command for \(id) timed out and was killed")
        } else if outcome.code != 0 {
            Output.notice("the command for \(id) exited with \(outcome.code)")
        }
    }

    // MARK: Variables

    /// The values are cut, because Linux limits one variable to 128 KiB, and all of them together. Standard input has
    /// everything.
    private func variables(of event: JSONValue, _ data: JSONValue, desktop: String) -> [(String, String)] {
        [
            ("BELLWIRE_ID", Printable.line(data["id"]?.string ?? "")),
            ("BELLWIRE_TITLE", Printable.line(data["title"]?.string ?? "")),
            ("BELLWIRE_BODY", Printable.lines(PushCommand.cut(data["body"]?.string ?? "", to: 65_536))),
            ("BELLWIRE_PRIORITY", Printable.line(data["priority"]?.string ?? "normal")),
            ("BELLWIRE_SOURCE", Printable.line(data["source"]?.string ?? "pc")),
            ("BELLWIRE_CREATED_AT", "\(data["createdAt"]?.integer ?? 0)"),
            ("BELLWIRE_LATE", data["late"]?.bool == true ? "1" : ""),
            ("BELLWIRE_REDELIVERED", data["redelivered"]?.bool == true ? "1" : ""),
            ("BELLWIRE_DESKTOP", Printable.line(event["desktop"]?.string ?? "")),
            ("BELLWIRE_DESKTOP_NAME", Printable.line(desktop)),
        ].map { ($0, $0 == "BELLWIRE_BODY" ? $1 : PushCommand.cut($1, to: 4_096)) }
    }

    /// The longest prefix of whole characters that fits.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: limit)
        while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        return String(text[..<end])
    }
}
