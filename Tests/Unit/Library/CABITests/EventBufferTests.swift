@testable import CABI
import Hosting
import JSON
import Testing

@Suite("What waits for a host") struct EventBufferTests {
    private func command(_ number: Int) -> HostEvent {
        HostEvent(.command, data: ["number": .integer(Int64(number))])
    }

    private func names(_ items: [EventBuffer.Item]) -> [String] {
        items.map { item in
            switch item {
            case .event(let event):
                event.name.rawValue + (event.desktop.map { "/" + $0 } ?? "")
                    + (event.data["number"]?.integer.map { " \($0)" } ?? "")
            case .completion: "completion"
            case .question: "question"
            case .stored(let name): "stored " + name.rawValue
            }
        }
    }

    @Test("a newer state takes the place of an older one of its desktop, and stands where the newer one came")
    func states() {
        var buffer = EventBuffer()
        buffer.append(HostEvent(.connectionChanged, desktop: "a", data: ["number": 1]))
        buffer.append(command(2))
        buffer.append(HostEvent(.connectionChanged, desktop: "b", data: ["number": 3]))
        buffer.append(HostEvent(.connectionChanged, desktop: "a", data: ["number": 4]))
        #expect(buffer.events == 3)
        #expect(
            names(buffer.takeAll()) == ["command 2", "connection.changed/b 3", "connection.changed/a 4"])
        // One that was taken is not replaced any more.
        buffer.append(HostEvent(.connectionChanged, desktop: "a", data: ["number": 5]))
        #expect(names(buffer.takeAll()) == ["connection.changed/a 5"])
        #expect(buffer.isEmpty)
    }

    @Test("what comes after a place stays behind it, also when it replaces something before it")
    func places() {
        var buffer = EventBuffer()
        buffer.append(command(1))
        buffer.append(HostEvent(.unreadChanged, data: ["number": 2]))
        let end = buffer.end
        buffer.append(HostEvent(.unreadChanged, data: ["number": 3]))
        var taken: [EventBuffer.Item] = []
        while let item = buffer.take(before: end) { taken.append(item) }
        #expect(names(taken) == ["command 1"])
        #expect(names(buffer.takeAll()) == ["unread.changed 3"])
    }

    @Test("an overflow drops the oldest event that is no state, then the oldest state, and counts them")
    func overflow() {
        var buffer = EventBuffer()
        buffer.append(HostEvent(.unreadChanged, data: ["number": 0]))
        for number in 1...(EventBuffer.eventLimit + 2) { buffer.append(command(number)) }
        #expect(buffer.events == EventBuffer.eventLimit)
        #expect(buffer.takeDropped() == 3 && buffer.takeDropped() == 0)
        #expect(names(buffer.takeAll()).prefix(2) == ["unread.changed 0", "command 4"])
        for number in 0...EventBuffer.eventLimit {
            buffer.append(HostEvent(.connectionChanged, desktop: "\(number)", data: [:]))
        }
        #expect(buffer.takeDropped() == 1)
        #expect(names(buffer.takeAll()).first == "connection.changed/1")
    }

    @Test("problems that nobody heard come before what waits, and a source waits once")
    func unheard() {
        var buffer = EventBuffer()
        buffer.append(stored: .notificationReceived)
        buffer.append(stored: .notificationReceived)
        buffer.append(command(1))
        for number in 0..<(EventBuffer.unheardLimit + 5) {
            buffer.keepUnheard(HostEvent(.problem, data: ["number": .integer(Int64(number))]))
        }
        buffer.replayUnheard()
        let all = names(buffer.takeAll())
        #expect(all.count == EventBuffer.unheardLimit + 2)
        #expect(all.first == "problem 0")
        #expect(all.suffix(2) == ["stored notification.received", "command 1"])
    }

    @Test("a long life, in which it never runs empty, keeps order and count")
    func long() {
        var buffer = EventBuffer()
        var taken: [Int64] = []
        for number in 0..<10_000 {
            buffer.append(command(number))
            if number % 3 == 2, case .event(let event)? = buffer.take(before: buffer.end) {
                taken.append(event.data["number"]?.integer ?? -1)
            }
            if buffer.events > 100 {
                while buffer.events > 50, case .event(let event)? = buffer.take(before: buffer.end) {
                    taken.append(event.data["number"]?.integer ?? -1)
                }
            }
        }
        for case .event(let event) in buffer.takeAll() { taken.append(event.data["number"]?.integer ?? -1) }
        #expect(taken == Array(0..<10_000))
        #expect(buffer.events == 0)
    }
}
