import Desktop
import Foundation
import Hosting
import JSON
import Sealing
import Synchronization
import TestSupport
import Testing
import Transport
import Wire

@testable import Device

/// Sessions between our device and our desktop, at a relay that shows what it carries (WireSessions, "Overview").
@Suite(.timeLimit(.minutes(2))) struct SessionTests {
    /// The types of what the relay carried, in order.
    @EventLoop
    private final class Record {
        private(set) var letters: [HostileRelay.Letter] = []
        let added = Mailbox<HostileRelay.Letter>()

        func carry(_ letter: HostileRelay.Letter) -> [HostileRelay.Letter] {
            letters.append(letter)
            added.put(letter)
            return [letter]
        }

        func clear() { letters = [] }
        var types: Set<String> { Set(letters.map { $0.payload["type"]?.string ?? "" }) }
    }

    private func push(_ home: AttackedHome, _ title: String) async throws {
        let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)"}"#))
        _ = try await home.desktop.value(.notify(notice, 10_000))
    }

    /// Pairs, and delivers a push in a session.
    private func begin(_ home: AttackedHome) async throws -> Record {
        let record = Record()
        await home.relay.carries { record.carry($0) }
        try await home.pair()
        _ = try await record.added.take("a session", #_sourceLocation) {
            $0.to == home.desktopID && $0.payload["type"] == "bellwire:s2"
        }
        try await push(home, "one")
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "one")
        return record
    }

    @Test("two new peers have a session right after pairing, and nothing is sealed in version 1 from then on")
    func afterPairing() async throws {
        let home = try await AttackedHome()
        let record = Record()
        await home.relay.carries { record.carry($0) }
        try await home.pair()
        // Step 1, step 2, and a frame of each side in the session.
        for (type, to) in [
            ("bellwire:hs", home.desktopID), ("bellwire:hs", home.deviceID), ("bellwire:s2", home.desktopID),
        ] {
            _ = try await record.added.take("\(type)", #_sourceLocation) {
                $0.payload["type"]?.string == type && $0.to == to
            }
        }
        try await push(home, "first")
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "first")
        await record.clear()
        try await push(home, "second")
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "second")
        #expect(try await home.unread() == 2)
        #expect(await record.types == ["bellwire:s2"])
        await home.close()
    }

    @Test("frames of version 1, in the name of a peer that uses sessions, are refused: a push is not taken")
    func downgrade() async throws {
        let home = try await AttackedHome()
        let record = Record()
        // Handshakes don't get through at first: the pair speaks version 1.
        let held = Record()
        await home.relay.carries { $0.payload["type"] == "bellwire:hs" ? [] : record.carry($0) }
        try await home.pairOld()
        try await push(home, "old")
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "old")
        let old = try #require(
            await record.letters.last { $0.to == home.deviceID && $0.payload["type"] == "bellwire:sealed" })
        // What was sealed in version 1 is kept back, and delivered when sessions are used.
        await home.relay.carries { letter in
            letter.payload["type"] == "bellwire:sealed" ? held.carry(letter).filter { _ in false } : [letter]
        }
        try await push(home, "late")
        _ = try await held.added.take("a held push", #_sourceLocation) { $0.to == home.deviceID }
        await home.relay.carries { record.carry($0) }
        home.device.perform(.stop)
        _ = try await home.desktop.value(.state)
        home.device.perform(.start)
        _ = try await record.added.take("a session", #_sourceLocation) {
            $0.to == home.deviceID && $0.payload["type"] == "bellwire:s2"
        }
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "late")
        let before = try await home.onDevice("sealsDowngraded") ?? 0
        for letter in await held.letters + [old] where letter.to == home.deviceID {
            await home.relay.deliver(letter)
        }
        #expect(try await home.unread() == 2)
        #expect(try await home.onDevice("sealsDowngraded") ?? 0 > before)
        await home.close()
    }

    @Test("a command that was sealed in version 1 and got lost is sent again as soon as a session begins")
    func commandBeforeSession() async throws {
        let home = try await AttackedHome()
        let handshakes = Record()
        let lost = Record()
        await home.relay.carries {
            $0.payload["type"] == "bellwire:hs" ? handshakes.carry($0).filter { _ in false } : [$0]
        }
        try await home.pairOld()
        try await home.register()
        let request = try await handshakes.added.take("the desktop's request", #_sourceLocation) {
            $0.to == home.deviceID && $0.payload["payload"]?["step"] == 0
        }
        let moments = Moments()
        await home.relay.carries { letter in
            guard letter.to == home.desktopID else { return [letter] }
            if letter.payload["type"] == "bellwire:s2" { moments.add() }
            return letter.payload["type"] == "bellwire:sealed" ? lost.carry(letter).filter { _ in false } : [letter]
        }
        let command = try Device.Command("notification.getUnreadCount", [:])
        async let answer = home.device.value(.ask(.invoke(command), of: nil, 60_000))
        _ = try await lost.added.take("the command in version 1", #_sourceLocation)
        await home.relay.deliver(request)
        _ = try await answer
        // Hello, and the command: without an answer, one is sent again after 5 s.
        let all = await moments.all
        #expect(all.count >= 2 && all[1] - all[0] < 2_500)
        await home.close()
    }

    @Test("calls that are made right after pairing are all answered, however many wait for the first session")
    func callsBeforeSession() async throws {
        let home = try await AttackedHome()
        let held = Record()
        await home.relay.carries {
            $0.payload["type"] == "bellwire:hs" ? held.carry($0).filter { _ in false } : [$0]
        }
        try await home.pair()
        _ = try await held.added.take("a handshake", #_sourceLocation)
        let command = try Device.Command("notification.getUnreadCount", [:])
        let answers = Mailbox<Result<HostReply, HostError>>()
        for _ in 0..<1_000 {
            home.device.perform(.ask(.invoke(command), of: nil, 60_000)) { answer in
                EventLoop.post { answers.put(answer) }
            }
        }
        // The device answers in order: it has taken all the calls.
        _ = try await home.device.value(.state)
        #expect(await answers.isEmpty)
        await home.relay.carries { [$0] }
        for letter in await held.letters { await home.relay.deliver(letter) }
        for _ in 0..<1_000 { _ = try await answers.next("an answer").get() }
        await home.close()
    }

    /// When letters came.
    @EventLoop
    private final class Moments {
        private(set) var all: [UInt64] = []

        nonisolated init() {}

        func add() { all.append(EventLoop.now) }
    }

    @Test("a desktop that restarts asks for a session, and gets its device back; both stay with sessions")
    func desktopRestarts() async throws {
        let folder = NSTemporaryDirectory() + "bellwire-session-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let home = try await AttackedHome(desktop: ["state_dir": .string(folder)])
        let record = try await begin(home)
        await home.desktop.close()
        await record.clear()
        let host = RecordingHost()
        let options: JSONObject = ["state_dir": .string(folder), "name": "Desk", "relay_url": .string(home.url)]
        let again = try Desktop.open(JSONValue.object(options).serialized(), host.channel).0
        _ = try await again.value(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        let notice = try Desktop.Notice(JSONObject(#"{"title":"two"}"#))
        _ = try await again.value(.notify(notice, 10_000))
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "two")
        #expect(!(await record.types.contains("bellwire:sealed")))
        await again.close()
        await home.device.close()
        await home.relay.close()
    }

    @Test("a device that restarts begins a session by itself, and recorded frames of the last one have no effect")
    func deviceRestarts() async throws {
        let folder = NSTemporaryDirectory() + "bellwire-session-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let home = try await AttackedHome(device: ["state_dir": .string(folder)])
        let record = try await begin(home)
        await home.device.close()
        let recorded = await record.letters
        await record.clear()
        let host = RecordingHost()
        let again = try AttackedHome.openDevice(home.url, ["state_dir": .string(folder)], host)
        again.perform(.start)
        _ = try await record.added.take("a hello", #_sourceLocation) {
            $0.to == home.desktopID && $0.payload["type"] == "bellwire:s2"
                && !recorded.map(\.payload).contains($0.payload)
        }
        for letter in recorded { await home.relay.deliver(letter) }
        try await push(home, "two")
        #expect(try await host.push(from: again)["title"] == "two")
        #expect(!(await record.types.contains("bellwire:sealed")))
        let list = try await again.value(.desktops)
        #expect(list.array?.count == 1)
        await again.close()
        await home.desktop.close()
        await home.relay.close()
    }

    @Test("a device without a session tells its desktop that it unpairs, although both use sessions alone")
    func unpairWithoutSession() async throws {
        let folder = NSTemporaryDirectory() + "bellwire-session-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let home = try await AttackedHome(device: ["state_dir": .string(folder)])
        _ = try await begin(home)
        await home.device.close()
        await home.relay.holdsHandshakes()
        let host = RecordingHost()
        let device = try AttackedHome.openDevice(home.url, ["state_dir": .string(folder)], host)
        device.perform(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        _ = try await device.value(.unpair(home.desktopID))
        try await until("the desktop has no device") {
            try await home.desktop.value(.devices).array?.isEmpty == true
        }
        await device.close()
        await home.desktop.close()
        await home.relay.close()
    }

    @Test("a lost handshake does not leave a new pair on version 1: it comes again")
    func lostHandshake() async throws {
        let home = try await AttackedHome()
        let (record, lost) = (Record(), Record())
        await home.relay.carries { letter in
            guard letter.payload["type"] == "bellwire:hs", lost.letters.count < 2 else { return record.carry(letter) }
            return lost.carry(letter).filter { _ in false }
        }
        try await home.pair()
        await record.clear()
        try await push(home, "one")
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "one")
        #expect(await lost.letters.count == 2)
        #expect(await record.types.subtracting(["bellwire:hs", "bellwire:s2"]).isEmpty)
        await home.close()
    }

    @Test("a push that a program has seen is acknowledged, also if the program closes its device at once")
    func closedAtOnce() async throws {
        let folder = NSTemporaryDirectory() + "bellwire-session-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let home = try await AttackedHome(device: ["state_dir": .string(folder)])
        _ = try await begin(home)
        await home.device.close()
        let (host, closing) = (RecordingHost(), Closing())
        // On the store's thread, before the loop knows that the push is stored.
        let channel = HostChannel(
            post: { _ in }, waits: { _ in closing.close() }, ask: { $0.answer(nil) }, log: { _, _ in })
        let device = try AttackedHome.openDevice(home.url, ["state_dir": .string(folder)], channel)
        closing.device.withLock { $0 = device }
        device.perform(.start)
        let notice = try Desktop.Notice(JSONObject(#"{"title":"two"}"#))
        #expect(try await home.desktop.value(.notify(notice, 10_000))["deliveredCount"] == 1)
        try await closing.closed.next()
        let again = try AttackedHome.openDevice(home.url, ["state_dir": .string(folder)], host)
        #expect(try await host.push(from: again)["title"] == "two")
        await again.close()
        await home.desktop.close()
        await home.relay.close()
    }
}

/// Closes a device when it has a push.
private final class Closing: Sendable {
    let device = Mutex<Device?>(nil)
    let closed = Mailbox<Void>()

    func close() {
        guard let device = device.withLock({ $0.take() }) else { return }
        device.shutDown { EventLoop.post { self.closed.put(()) } }
    }
}
