import Foundation
@testable import History
import JSON
@testable import Notifications
import Testing
import Wire

/// The table of methods beside all that is written by hand for each of them: the header, the functions behind it, Python,
/// and the page Methods.md, whose examples are tried.
@Suite struct MethodTableTests {
    private static let root = #filePath.components(separatedBy: "/Tests/")[0]

    private static func read(_ path: String) throws -> String {
        try String(contentsOfFile: root + "/" + path, encoding: .utf8)
    }

    private let header: String
    private let page: String

    init() throws {
        header = try Self.read("include/bellwire.h")
        page = try Self.read("Sources/Library/CABI/Bellwire.docc/Methods.md")
    }

    /// What stands between two texts that are there.
    private func between(_ start: String, _ end: String, in text: String) throws -> String {
        let rest = try #require(text.range(of: start).map { text[$0.upperBound...] })
        return String(rest[..<(try #require(rest.range(of: end)).lowerBound)])
    }

    // MARK: The header and the functions behind it

    @Test("the header lists exactly these methods, in this order")
    func listed() throws {
        let list = try between("#define BW_NOTIFICATION_METHODS(X)", "\n\n", in: header)
        let rows = list.matches(of: /X\((\w+), (\w+)\)/).map { "\($0.1) \($0.2)" }
        #expect(rows == NotificationMethod.allCases.map { "\($0.snake) \($0.short)" })
    }

    @Test(
        "the header declares both functions of each, and names its parameters", arguments: NotificationMethod.allCases)
    func declared(method: NotificationMethod) throws {
        #expect(header.contains("bw_notification_\(method.snake)(bw_device *device,"))
        #expect(header.contains("bw_notification_\(method.snake)_async(bw_device *device,"))
        let comment = try between("/* \(method.name): ", "*/", in: header)
        #expect(comment.contains("Since "))
        // A family of methods names shared parameters once.
        let methods = try between(" * Methods\n", " * Inbox\n", in: header)
        for parameter in method.row.parameters where !RicherFields.names.contains(parameter.name) {
            #expect(methods.contains("\"\(parameter.name)\""), "\(parameter.name)")
        }
        if case .members(let members) = method.row.result {
            for member in members { #expect(comment.contains("\"\(member.name)\""), "\(member.name)") }
        }
    }

    @Test("the header says which methods can wait")
    func waiting() throws {
        let named = try between("Some methods can be queued: ", ".", in: header)
        #expect(
            named.replacing("\n *", with: "").components(separatedBy: ", ")
                == NotificationMethod.allCases.filter(\.row.canWait).map(\.short))
    }

    @Test("each function sends its own method", arguments: NotificationMethod.allCases)
    func wrapped(method: NotificationMethod) throws {
        let source = try Self.read("Sources/Library/CABI/Methods.swift")
        for name in [method.snake, method.snake + "_async"] {
            let body = try between("public func bw_notification_\(name)(", "\n}", in: source)
            #expect(body.contains("command(.\(method.short), params_json)"), "\(name)")
        }
    }

    // MARK: Python

    @Test("Python declares exactly these methods, and knows which can wait")
    func python() throws {
        let source = try Self.read("bindings/python/src/bellwire/_methods.py")
        let declared = try between("declare_methods(\n", ")", in: source).matches(of: /"(\w+)"/).map { String($0.1) }
        #expect(declared == NotificationMethod.allCases.map(\.snake))
        for method in NotificationMethod.allCases {
            let calls = source.matches(of: /self\._(a?)(call|change)\([^"]*"(\w+)"/).filter { $0.3 == method.snake }
            #expect(calls.map(\.1) == ["", "a"], "\(method.snake)")
            // A notification can wait if its program asks for that.
            let sends = [.send, .sendToMobile, .broadcast].contains(method)
            #expect(calls.allSatisfy { ($0.2 == "change") == (method.row.canWait || sends) }, "\(method.snake)")
        }
    }

    // MARK: The page

    @Test("the page has the row of each method", arguments: NotificationMethod.allCases)
    func described(method: NotificationMethod) throws {
        let line = try between("| `\(method.name)` |", "\n", in: page)
        let cells = line.components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        try #require(cells.count == 5)
        let row = method.row
        #expect(cells[0] == row.risk.name)
        #expect(
            cells[1]
                == [MethodDescriptor.Queueing.never: "", .whole: "yes", .byField: "by field"][row.queueing])
        let own = row.parameters.filter { !RicherFields.names.contains($0.name) }
        var parameters = own.map { $0.isRequired ? $0.name : $0.name + "?" }
        if own.count < row.parameters.count { parameters.append("and those of a push") }
        #expect(cells[2] == parameters.joined(separator: ", "))
        guard case .members(let members) = row.result else { return }
        let named = members.filter { $0.name != "error" }.map { $0.isOptional ? $0.name + "?" : $0.name }
        #expect(cells[3] == (["success"] + named).joined(separator: ", "))
    }

    @Test("the page's example of each is what goes out and comes back", arguments: NotificationMethod.allCases)
    func example(method: NotificationMethod) throws {
        let section = try between("### \(method.name)\n", "\n```\n", in: page + "\n")
        for name in [method.snake, method.snake + "_async"] { #expect(section.contains("`bw_notification_\(name)`")) }
        let text = try #require(section.components(separatedBy: "```json\n").last)
        let example = try #require(JSONValue(parsing: text).object)

        let sent = try method.row.wire(from: try #require(example["params"]?.object))
        #expect(JSONValue.object(sent).serialized() == example["sent"]?.serialized())

        let desktop = try DesktopFixture()
        try desktop.fill(1)
        let outcome =
            switch try desktop.handle(method, sent).reply {
            case .ready(let outcome): outcome
            case .afterPush(let reply): reply.complete(delivered: Set(reply.devices))
            }
        guard case .result(let answer) = outcome else {
            Issue.record("refused: \(outcome)")
            return
        }
        let result = try MethodResult(decoding: answer, of: method, now: 100).json
        #expect(JSONValue.object(result).serialized() == example["result"]?.serialized())
    }
}

extension NotificationMethod {
    fileprivate var short: String { String(name.dropFirst("notification.".count)) }

    fileprivate var snake: String {
        short.map { $0.isUppercase ? "_" + $0.lowercased() : String($0) }.joined()
    }
}

extension ResultMember {
    fileprivate var isOptional: Bool { if case .leftOut = absent { true } else { false } }
}
