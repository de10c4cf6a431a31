import JSON
import NATS
import Testing
import TestSupport

@Suite struct ProtocolTests {
    typealias Operation = NATSParser.Operation

    static let sent = """
        INFO {"server_id":"A","headers":true}\r\nPING\r\nMSG a.b 1 5\r\nhello\r\nMSG a 18446744073709551615 _I.1 0\r\n\r\n\
        HMSG x 7 _I.2 16 16\r\nNATS/1.0 503\r\n\r\n\r\nhmsg y 7 27 29\r\nNATS/1.0\r\nA: 1\r\nA:2\r\nb:\r\n\r\n\r\n\r\n\
        pong\r\n+OK\r\n-ERR 'Authorization Violation'\r\n
        """

    static func all(_ text: String, cutAt places: [Int] = []) throws(NATSError) -> [Operation] {
        var parser = NATSParser(maximumPayload: 64)
        var operations: [Operation] = []
        let bytes = Array(text.utf8)
        var start = 0
        for end in places + [bytes.count] {
            let piece = Array(bytes[start..<end])
            operations += try piece.withUnsafeBytes { bytes in Result { () throws(NATSError) in try parser.take(bytes) }
            }
            .get()
            start = end
        }
        return operations
    }

    @Test func everyOperationIsRead() throws {
        let operations = try Self.all(Self.sent)
        #expect(operations.count == 9)
        #expect(operations[0] == .info(["server_id": "A", "headers": true]))
        #expect(operations[1] == .ping)
        #expect(operations[2] == .message(NATSMessage(subject: "a.b", payload: Array("hello".utf8)), subscription: 1))
        #expect(operations[3] == .message(NATSMessage(subject: "a", reply: "_I.1"), subscription: .max))
        guard case .message(let refusal, 7) = operations[4], case .message(let fields, 7) = operations[5] else {
            Issue.record("no messages")
            return
        }
        #expect(refusal.headers.status == 503 && refusal.payload.isEmpty && refusal.reply == "_I.2")
        #expect(fields.headers.fields.map(\.name) == ["A", "A", "b"])
        #expect(fields.headers.fields.map(\.value) == ["1", "2", ""])
        #expect(fields.headers["A"] == "1" && fields.headers["a"] == nil && fields.payload == Array("\r\n".utf8))
        #expect(operations[6...] == [.pong, .ok, .error("Authorization Violation")])
    }

    @Test func itIsTheSameHoweverItIsCut() throws {
        let whole = try Self.all(Self.sent)
        for place in 0...Self.sent.utf8.count { #expect(try Self.all(Self.sent, cutAt: [place]) == whole) }
        #expect(try Self.all(Self.sent, cutAt: Array(0...Self.sent.utf8.count)) == whole)
    }

    @Test(arguments: [
        "\r\n", "HELLO\r\n", "PING\n", "PING 1\r\n", "MSG a 1\r\n", "MSG a x 1\r\n", "MSG a 1 65\r\n", "MSG a 1 -1\r\n",
        "MSG a 1 99999999999999999999\r\n", "MSG a 1 1\r\nab\r\n", "HMSG a 1 9 4\r\n", "HMSG a 1 4 4\r\nabcd\r\n",
        "HMSG a 1 12 12\r\nNATS/1.0\r\n\r\r\r\n", "HMSG a 1 16 16\r\nNATS/1.0 5x3\r\n\r\n\r\n",
        "HMSG a 1 17 17\r\nNATS/1.0\r\n:12\r\n\r\n\r\n", "INFO 7\r\n", "INFO {\r\n",
        String(repeating: "x", count: 4_097),
        "INFO {" + String(repeating: " ", count: 1 << 20),
    ])
    func malformedInputIsAnError(_ text: String) {
        #expect(throws: NATSError.self) { try Self.all(text) }
    }

    @Test(arguments: 0..<200) func randomInputNeverTraps(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var parser = NATSParser(maximumPayload: 64)
        var bytes = Array(Self.sent.utf8)
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            if Bool.random(using: &generator) {
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
            } else {
                bytes.remove(at: place)
            }
        }
        for piece in bytes.indices.map({ [bytes[$0]] }) {
            let result = piece.withUnsafeBytes { bytes in Result { () throws(NATSError) in try parser.take(bytes) } }
            if case .failure(let error) = result {
                #expect(error.code == .protocolError)
                return
            }
        }
    }

    @Test func subjects() {
        for subject in ["a", "a.b-c_d.é", "$JS.API.INFO", "_INBOX.x.1"] {
            #expect(NATSSubject.isLiteral(subject) && NATSSubject.isPattern(subject))
        }
        for pattern in ["*", "a.*.b", ">", "a.>"] {
            #expect(!NATSSubject.isLiteral(pattern) && NATSSubject.isPattern(pattern))
        }
        let long = String(repeating: "a", count: 1_025)
        for wrong in ["", ".", "a.", ".a", "a..b", "a b", "a\r\nPUB", "a.>.b", "a*", "a.b>", "\t", long] {
            #expect(!NATSSubject.isLiteral(wrong) && !NATSSubject.isPattern(wrong), "\(wrong.debugDescription)")
        }
    }

    @Test func headersTakeNoLineBreaks() throws {
        var headers = NATSHeaders()
        try headers.add("Nats-Msg-Id", "a b: c")
        for (name, value) in [("", "x"), ("a:b", "x"), ("a b", "x"), ("é", "x"), ("a", "x\r\nb: y"), ("a", "\0")] {
            #expect(throws: NATSError.self) { try headers.add(name, value) }
        }
        #expect(headers.fields.map(\.name) == ["Nats-Msg-Id"] && headers["Nats-Msg-Id"] == "a b: c")
    }
}
