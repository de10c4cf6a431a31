import Hosting
import JSON
import Testing

@testable import Sharing

@Suite struct FrameDecoderTests {
    @Test("A frame comes out whole, wherever its bytes are cut")
    func cutAnywhere() throws {
        let objects: [JSONObject] = [["a": 1], [:], ["text": .string(String(repeating: "ä", count: 1_000))]]
        let bytes = try objects.flatMap { try FrameDecoder.encode($0) }
        for step in [1, 2, 3, 7, 1_000, bytes.count] {
            var decoder = FrameDecoder()
            var found: [JSONObject] = []
            for start in stride(from: 0, to: bytes.count, by: step) {
                bytes[start..<min(start + step, bytes.count)].withUnsafeBytes { decoder.append($0) }
                while let frame = try decoder.next() { found.append(frame.object) }
            }
            #expect(found == objects)
        }
    }

    @Test(
        "What is no frame is an error, not a trap",
        arguments: [
            [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 2, 0x5B, 0x5D], [0, 0, 0, 1, 0x7B], [0, 0, 0, 0],
            [0, 0, 0, 3, 0x22, 0xFF, 0x22],
        ] as [[UInt8]])
    func malformed(_ bytes: [UInt8]) {
        var decoder = FrameDecoder()
        bytes.withUnsafeBytes { decoder.append($0) }
        #expect(throws: HostError.self) { try decoder.next() }
    }

    @Test("What a frame can't hold is a named error, and the largest that it can comes back whole")
    func largest() throws {
        func object(_ count: Int) -> JSONObject { ["text": .string(String(repeating: "\u{1}", count: count))] }
        // {"text":"…"}, with six bytes for each.
        let most = (FrameDecoder.maximumBytes - 11) / 6
        let bytes = try FrameDecoder.encode(object(most))
        #expect(bytes.count > FrameDecoder.maximumBytes - 6)
        var decoder = FrameDecoder()
        bytes.withUnsafeBytes { decoder.append($0) }
        #expect(decoder.count == bytes.count)
        #expect(try decoder.next()?.object == object(most))
        #expect(decoder.count == 0)
        let error = #expect(throws: HostError.self) { try FrameDecoder.encode(object(most + 1)) }
        #expect(error?.code == .limit && error?.detail["reason"] == "too_large")
        #expect(throws: HostError.self) { try FrameDecoder.encode(["a": 1], limit: 6) }
        #expect(try FrameDecoder.encode(["a": 1], limit: 7).count == 11)
    }

    @Test("An event that is too large loses its largest members, by name, and fits then")
    func cutEvent() throws {
        // Six bytes each in JSON.
        func text(_ bytes: Int) -> JSONValue { .string(String(repeating: "\u{1}", count: bytes / 6)) }
        let data: JSONObject = ["id": "n", "body": text(9 << 20), "data": ["a": text(8 << 20)], "title": text(4_096)]
        let event = HostEvent(.notificationReceived, desktop: "d", data: data)
        #expect(throws: HostError.self) { try FrameDecoder.encode(HolderMessage.event(event).object) }
        let cut = event.cut()
        #expect(cut.data["omitted"] == ["body"] && cut.data["data"] == data["data"] && cut.data["id"] == "n")
        #expect(cut.name == event.name && cut.desktop == "d")
        #expect(try FrameDecoder.encode(HolderMessage.event(cut).object).count <= FrameDecoder.maximumBytes)
        #expect(cut.cut().data == cut.data)
        let huge = HostEvent(.command, data: ["type": "t", "a": text(17 << 20), "b": text(18 << 20)]).cut()
        #expect(huge.data == ["type": "t", "omitted": ["b", "a"]])
    }

    @Test("Messages come back as they were sent")
    func messages() throws {
        let taker = FeedTaker("App", copy: "App/1")
        var hello = GuestHello(role: "device", taker: taker, process: 7, options: ["name": "x"])
        (hello.isStarted, hello.yields) = (true, true)
        hello.handed = [.notificationReceived: 12]
        guard case .hello(let read) = try GuestMessage(GuestMessage.hello(hello).object) else {
            Issue.record("not a hello")
            return
        }
        #expect(read == hello)
        let call = HostCall("inbox.load", [.null, "text", 3, true])
        guard case .call(5, let received) = try GuestMessage(GuestMessage.call(number: 5, call).object) else {
            Issue.record("not a call")
            return
        }
        #expect(received == call)
        let error = HostError(.notFound, "no such desktop", detail: ["field": "desktop"])
        guard
            case .answer(6, .failure(let failed)) = try HolderMessage(
                HolderMessage.answer(number: 6, .failure(error)).object)
        else {
            Issue.record("not an answer")
            return
        }
        #expect(failed == error)
        var batch = FeedBatch([], begins: .init(marks: .init(slot: 1, handed: 2, offered: 3), asCopy: true))
        (batch.dropped, batch.isCut) = (4, true)
        guard case .taken(7, let taken) = try HolderMessage(HolderMessage.taken(number: 7, batch).object) else {
            Issue.record("not a batch")
            return
        }
        #expect(taken.begins == batch.begins && taken.dropped == 4 && taken.isCut)
    }

    @Test("A copy's name is one that no program can have")
    func copies() {
        #expect(FeedTaker("App", copy: "App").copy == nil)
        let taker = FeedTaker.ofProgram(nil)
        #expect(taker.names.count == 2 && taker != .ofProgram(nil))
        #expect(taker.copy.map(FeedTaker.isCopy) == true && !FeedTaker.isCopy(taker.application))
    }

    @Test("Two scripts of one interpreter are two programs, whatever their paths are")
    func scripts() {
        let lamp = FeedTaker.ofProgram("/home/me/lamp.py")
        #expect(
            lamp.application == "home:me:lamp.py" && lamp.application != FeedTaker.ofProgram("/opt/lamp.py").application
        )
        let deep = "/" + String(repeating: "d", count: 250)
        for (one, other) in [("/q:r/s.py", "/q/r/s.py"), ("/a" + deep, "/b" + deep), ("/a:b/c", "/a/b:c")] {
            #expect(FeedTaker.ofProgram(one).application != FeedTaker.ofProgram(other).application)
        }
        for path in ["/" + String(repeating: "ü", count: 2_000), "/", "\u{1F468}\u{200D}\u{1F469}/a.py"] {
            let taker = FeedTaker.ofProgram(path)
            #expect((1...255).contains(taker.application.utf8.count) && taker.copy?.utf8.count ?? 256 <= 255)
        }
    }

    @Test(
        "A message that lacks what it needs is an error",
        arguments: ["{}", #"{"message":"take"}"#, #"{"message":"call"}"#])
    func incomplete(_ text: String) throws {
        let object = try #require(try JSONValue(parsing: text).object)
        #expect(throws: HostError.self) { try GuestMessage(object) }
        #expect(throws: HostError.self) { try HolderMessage(object) }
    }
}
