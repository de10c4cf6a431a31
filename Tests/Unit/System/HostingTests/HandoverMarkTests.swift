import Foundation
import Hosting
import Testing

/// The file that says what callbacks may have seen.
struct HandoverMarkTests {
    private let path = FileManager.default.temporaryDirectory.appending(path: "handed-\(UUID())").path

    private func mark() throws -> HandoverMark { try #require(HandoverMark(path: path)) }

    private func change(_ change: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: URL(filePath: path))
        change(&data)
        try data.write(to: URL(filePath: path))
    }

    @Test("after a death what was noted counts, and at most what was offered")
    func noted() throws {
        defer { unlink(path) }
        #expect(try mark().begin(handed: 3, offered: 9) == 9, "without a file everything may have been seen")
        let first = try mark()
        #expect(first.begin(handed: 9, offered: 40) == 9, "begun: nothing was noted since")
        first.note(10)
        first.note(11)
        #expect(try mark().begin(handed: 9, offered: 40) == 11)
        #expect(try mark().begin(handed: 11, offered: 40) == 11, "it counts on after a second death")
        try mark().note(50)
        #expect(try mark().begin(handed: 11, offered: 40) == 40)
    }

    @Test("runs that end early, among events that come again, leave what an earlier run has seen")
    func earlyDeaths() throws {
        defer { unlink(path) }
        let first = try mark()
        _ = first.begin(handed: 2, offered: 2)
        for arrival in Int64(3)...8 { first.note(arrival) }
        for _ in 0..<3 {
            let again = try mark()
            #expect(again.begin(handed: 2, offered: 40) == 8)
            again.note(3)
        }
        let last = try mark()
        #expect(last.begin(handed: 2, offered: 40) == 8)
        last.note(9)
        #expect(try mark().begin(handed: 2, offered: 40) == 9)
    }

    @Test("after a boot, of another database, or damaged it says nothing")
    func invalid() throws {
        defer { unlink(path) }
        func noted(_ arrival: Int64) throws {
            let mark = try mark()
            _ = mark.begin(handed: arrival, offered: arrival)
            mark.note(arrival)
        }
        try noted(5)
        #expect(try mark().begin(handed: 6, offered: 9) == 9, "behind what was handed over")
        try noted(5)
        try change { $0[0] ^= 1 }
        #expect(try mark().begin(handed: 0, offered: 9) == 9, "another boot")
        for length in [0, 1, 39, 47] {
            try noted(5)
            try change { $0 = $0.prefix(length) }
            #expect(try mark().begin(handed: 0, offered: 9) == 9)
        }
    }

    @Test("a file that cannot be opened is no mark")
    func unopened() { #expect(HandoverMark(path: "/nowhere/handed") == nil) }

    @Test("what a run without a mark may have handed over counts in the next one")
    func stale() throws {
        defer { unlink(path) }
        let first = try mark()
        _ = first.begin(handed: 4, offered: 4)
        // A file that is there and can't be opened: a link is not followed.
        let link = path + "-link"
        defer { unlink(link) }
        #expect(symlink(path, link) == 0)
        #expect(HandoverMark(path: link) == nil)
        #expect(try #require(HandoverMark(path: link)).begin(handed: 4, offered: 9) == 9)
    }

    @Test("the marks of several programs in one file are their own")
    func slots() throws {
        defer { unlink(path) }
        func mark(_ slot: Int64) throws -> HandoverMark { try #require(HandoverMark(path: path, slot: slot)) }
        let marks = try (0..<4).map { try mark($0) }
        for (number, mark) in marks.enumerated().reversed() {
            let begin = Int64(number * 10)
            #expect(mark.begin(handed: begin, offered: begin) == begin)
            mark.note(begin + 3)
        }
        for slot in Int64(0)..<4 { #expect(try mark(slot).begin(handed: slot * 10, offered: 100) == slot * 10 + 3) }
        #expect(try mark(9).begin(handed: 0, offered: 7) == 7, "one that nobody has")
        _ = try mark(.min)
        _ = try mark(.max)
    }
}
