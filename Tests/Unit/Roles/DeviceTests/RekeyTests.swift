import Foundation
import History
import Hosting
import Identity
import JSON
import Notifications
import Pairing
import Peering
import Sealing
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop
@testable import Device

/// Moves to another key between our device and our desktop, at a relay that carries what it likes (WireRekey, "Overview").
@Suite(.timeLimit(.minutes(2)))
struct RekeyTests {
    @Test("a device moves: pushes go on, the queue, the inbox and the rights stay, and the old key is refused")
    func device() async throws {
        let pair = try await MovingPair()
        let old = try await pair.deviceID()
        _ = try await pair.desktop.value(.allow(.upTo(.safe), skill: "notification", to: old))
        let new = try await pair.readyDeviceMove()
        // Until the switch, everything goes on under the old key.
        #expect(try await pair.deviceID() == old)
        try await pair.push("second")
        #expect(try await pair.devices() == [old])

        // A push that waits while the device is away.
        await pair.device.close()
        let notice = try Desktop.Notice(JSONObject(#"{"title":"third"}"#))
        _ = try await pair.desktop.value(.notify(notice, 10_000))
        try await pair.reopenDevice()
        #expect(try await pair.deviceID() == new)
        #expect(try await pair.deviceHost.push(from: pair.device)["title"] == "third")
        _ = try await pair.desktopHost.event(.rekeyChanged) { $0["state"] == "moved" && $0["newId"]?.string == new }
        #expect(try await pair.devices() == [new])
        try await pair.push("fourth")
        #expect(try await pair.unread() == 4)
        let permissions = try await pair.desktop.value(.permissions)["devices"]?.array?.first
        #expect(permissions?["id"]?.string == new && permissions?["allowed"]?["notification"] == "safe")
        try await until("the move is complete") { try await pair.deviceState()["state"] == "none" }
        let revoked = try await pair.desktop.value(.key(.revoked)).array
        #expect(revoked?.first?["id"]?.string == old && revoked?.first?["movedTo"]?.string == new)

        // Nothing recorded under the old key has an effect, nor do the statements themselves.
        let before = try await pair.desktop.value(.state)["counters"]?["revoked"]?.integer ?? 0
        let letters = await pair.record.letters.filter { $0.from == old }
        for letter in letters { await pair.home.relay.deliver(letter) }
        try await until("all of it is counted") {
            let counters = try await pair.desktop.value(.state)["counters"]
            return counters?["revoked"]?.integer ?? 0 >= before + Int64(letters.count)
        }
        for letter in await pair.record.announcements { await pair.home.relay.deliver(letter) }
        try await pair.push("fifth")
        #expect(try await pair.devices() == [new])

        // Both sides start again: nothing of this was in memory alone.
        try await pair.reopenDesktop()
        try await pair.reopenDevice()
        try await pair.push("sixth")
        await pair.close()
    }

    @Test("a desktop moves: its device follows, with its inbox, its numbers and its queue")
    func desktop() async throws {
        let pair = try await MovingPair()
        let old = try await pair.desktopID()
        let new = try await pair.readyDesktopMove()
        try await pair.push("second")
        await pair.desktop.close()
        // A change that waits for the desktop.
        let request = try Device.Command("notification.markAllAsRead", [:])
        let queued = await pair.device.outcome(.ask(.invoke(request), of: nil, 1_000))
        _ = queued
        try await pair.reopenDesktop()
        #expect(try await pair.desktopID() == new)
        _ = try await pair.deviceHost.event(.rekeyChanged) { $0["state"] == "moved" && $0["newId"]?.string == new }
        #expect(try await pair.desktops() == [new])
        try await pair.push("third")
        let query = try Device.InboxQuery([:])
        let page = try await pair.device.value(.loadInbox(query))
        let rows = page["notifications"]?.array ?? page["items"]?.array ?? []
        #expect(rows.allSatisfy { $0["desktop"]?.string == new })
        try await until("the move is complete") { try await pair.desktopState()["state"] == "none" }
        #expect(try await pair.device.value(.key(.revoked)).array?.first?["id"]?.string == old)
        try await pair.reopenDevice()
        try await pair.push("fourth")
        // And back again is not possible: an old key stays refused.
        #expect(try await pair.desktops() == [new])
        await pair.close()
    }

    // MARK: Interruptions

    @Test("lost statements, answers and announcements, and restarts of both sides at each step, end in the new key")
    func interrupted() async throws {
        let pair = try await MovingPair()
        let old = try await pair.deviceID()
        // Nothing of the move gets through: it travels in sessions, so these are all of the device's frames.
        await pair.record.drop { $0.from == old && $0.payload["type"] == "bellwire:s2" }
        let new = try await pair.rekeyDevice()
        await pair.record.drop { _ in false }
        try await pair.reopenDevice()
        #expect(try await pair.deviceID() == old)
        #expect(try await pair.deviceState()["newId"]?.string == new)
        // The desktop's user is asked, and the desktop dies before the answer.
        _ = try await pair.desktopHost.event(.rekeyChanged) { $0["state"] == "confirming" }
        try await pair.reopenDesktop()
        let question = try await pair.desktopState()["questions"]?.array?.first
        #expect(question?["id"]?.string == old && question?["newId"]?.string == new)
        // The answer is lost, and both start again.
        await pair.record.drop { $0.to == old }
        _ = try await pair.desktop.value(.key(.confirmRekey(old, to: new, accept: true)))
        try await pair.reopenDesktop()
        await pair.record.drop { _ in false }
        try await pair.reopenDevice()
        try await until("the answer is repeated") { try await pair.deviceState()["state"] == "ready" }
        try await pair.push("under the old key")
        // The announcement is lost twice.
        await pair.record.drop { $0.payload["type"] == "bellwire:rekey" }
        try await pair.reopenDevice()
        #expect(try await pair.deviceID() == new)
        try await until("it is announced") { await !pair.record.announcements.isEmpty }
        try await pair.reopenDevice()
        #expect(try await pair.devices() == [old])
        await pair.record.drop { _ in false }
        // Of all that, one start of the desktop more.
        try await pair.reopenDesktop()
        try await until("the desktop has the new key") { try await pair.devices() == [new] }
        try await pair.push("under the new key")
        try await until("the move is complete") { try await pair.deviceState()["state"] == "none" }
        await pair.close()
    }

    @Test("a process that dies between the rename of the key and its record starts with the new key")
    func renamed() async throws {
        let pair = try await MovingPair()
        let new = try await pair.readyDeviceMove()
        await pair.device.close()
        let folder = pair.folder + "/device/"
        try FileManager.default.removeItem(atPath: folder + "identity.key")
        try FileManager.default.moveItem(atPath: folder + "identity.next.key", toPath: folder + "identity.key")
        try await pair.reopenDevice()
        #expect(try await pair.deviceID() == new)
        try await until("the desktop has the new key") { try await pair.devices() == [new] }
        try await pair.push("second")
        await pair.close()
    }

    @Test("a device that moved twice while its desktop asked it follows that desktop's own move")
    func movedTwiceMeanwhile() async throws {
        let pair = try await MovingPair()
        let newDesktop = try await pair.readyDesktopMove()
        for _ in 0..<2 {
            let new = try await pair.readyDeviceMove()
            try await pair.reopenDevice()
            try await until("the desktop has it") { try await pair.devices() == [new] }
            try await until("the move is complete") { try await pair.deviceState()["state"] == "none" }
        }
        try await pair.reopenDesktop()
        #expect(try await pair.desktopID() == newDesktop)
        try await until("the device has followed") { try await pair.desktops() == [newDesktop] }
        try await until("the desktop's move is complete") { try await pair.desktopState()["state"] == "none" }
        try await pair.push("second")
        await pair.close()
    }

    @Test("the key in use is no key to move to, and a next key that is in use already makes way for another")
    func sameKey() async throws {
        let pair = try await MovingPair()
        let key = pair.device.core.context.key
        let device = pair.device
        guard case .failure(let error) = await outcome({ device.rekey(to: key, then: $0) }) else {
            Issue.record("it moved to its own key")
            return
        }
        #expect(error.code == .invalid)
        let folder = pair.folder + "/device/"
        try FileManager.default.copyItem(atPath: folder + "identity.key", toPath: folder + "identity.next.key")
        #expect(try device.keys.next().did != key.did)
        await pair.close()
    }

    // MARK: Users

    @Test("a declined move changes nothing; it can be asked again, and cancelled")
    func declined() async throws {
        let pair = try await MovingPair()
        let old = try await pair.deviceID()
        let new = try await pair.rekeyDevice()
        try await pair.approveDevice(new, false)
        _ = try await pair.deviceHost.event(.rekeyChanged) { $0["peers"]?.array?.first?["state"] == "declined" }
        try await pair.reopenDevice()
        #expect(try await pair.deviceID() == old)
        guard case .failure(let late) = await pair.desktop.outcome(.key(.confirmRekey(old, to: new, accept: true)))
        else {
            Issue.record("an answer was changed")
            return
        }
        #expect(late.code == .notFound)
        #expect(try await pair.rekeyDevice() == new)
        try await pair.approveDevice(new)
        _ = try await pair.deviceHost.event(.rekeyChanged) { $0["state"] == "ready" }
        _ = try await pair.device.value(.key(.cancelRekey))
        try await pair.reopenDevice()
        #expect(try await pair.deviceID() == old)
        guard case .failure(let none) = await pair.device.outcome(.key(.cancelRekey)) else {
            Issue.record("nothing was cancelled")
            return
        }
        #expect(none.code == .notFound)
        try await pair.push("second")
        await pair.close()
    }

    @Test("both sides move at once, and find each other under two new keys")
    func both() async throws {
        let pair = try await MovingPair()
        let newDevice = try await pair.rekeyDevice()
        let newDesktop = try await pair.rekeyDesktop()
        try await pair.approveDevice(newDevice)
        try await pair.approveDesktop(newDesktop)
        _ = try await pair.deviceHost.event(.rekeyChanged) { $0["state"] == "ready" }
        _ = try await pair.desktopHost.event(.rekeyChanged) { $0["state"] == "ready" }
        await pair.device.close()
        await pair.desktop.close()
        try await pair.reopenDesktop()
        try await pair.reopenDevice()
        try await until("both have moved") {
            let (devices, desktops) = (try await pair.devices(), try await pair.desktops())
            return devices == [newDevice] && desktops == [newDesktop]
        }
        try await pair.push("second")
        #expect(try await pair.unread() == 2)
        await pair.close()
    }

    @Test("each peer decides for itself, and holds the move up until it has approved or is unpaired")
    func severalPeers() async throws {
        let pair = try await MovingPair()
        let secondHost = RecordingHost()
        let second = try AttackedHome.openDevice(pair.home.url, [:], secondHost)
        let offer = try await pair.desktop.value(.offer(10_000))["payload"]?.string ?? ""
        _ = try await second.value(.scan(offer, 10_000))
        let old = try await pair.desktopID()
        let new = try await pair.rekeyDesktop()
        try await pair.approveDesktop(new)
        // The second device's user declines: the first one's approval is not enough.
        _ = try await secondHost.event(.rekeyChanged) { $0["state"] == "confirming" && $0["newId"]?.string == new }
        _ = try await second.value(.key(.confirmRekey(old, to: new, accept: false)))
        _ = try await pair.desktopHost.event(.rekeyChanged) { status in
            Set(status["peers"]?.array?.compactMap { $0["state"]?.string } ?? []) == ["approved", "declined"]
        }
        try await pair.reopenDesktop()
        #expect(try await pair.desktopID() == old)
        try await pair.pushToAll("to both", second, secondHost)
        // Without it, nothing is in the way.
        let id = try await second.value(.state)["id"]?.string ?? ""
        _ = try await pair.desktop.value(.unpair(id))
        #expect(try await pair.desktopState()["state"] == "ready")
        try await pair.reopenDesktop()
        #expect(try await pair.desktopID() == new)
        try await until("the first one has followed") { try await pair.desktops() == [new] }
        try await pair.push("under the new key")
        await second.close()
        await pair.close()
    }

    @Test("a new move is refused as busy until the last one has reached every peer, by name")
    func busyUntilReached() async throws {
        let pair = try await MovingPair()
        _ = try await pair.readyDeviceMove()
        await pair.record.drop { $0.payload["type"] == "bellwire:rekey" }
        try await pair.reopenDevice()
        #expect(try await pair.deviceState()["state"] == "switched")
        let next = try pair.device.keys.next()
        let error = await outcome { pair.device.rekey(to: next, then: $0) }.error
        #expect(error?.code == .busy && error?.detail["peers"]?.array?.count == 1)
        await pair.record.drop { _ in false }
        try await until("the move is complete") { try await pair.deviceState()["state"] == "none" }
        _ = try await pair.rekeyDevice()
        #expect(try await pair.deviceState()["state"] == "asking")
        await pair.close()
    }

    @Test(
        "one move after the other: each old key is refused, and statements of the first have no effect after the second"
    )
    func twice() async throws {
        let pair = try await MovingPair()
        var ids = [try await pair.deviceID()]
        for _ in 0..<2 {
            let new = try await pair.readyDeviceMove()
            try await pair.reopenDevice()
            try await until("the desktop has it") { try await pair.devices() == [new] }
            try await until("the move is complete") { try await pair.deviceState()["state"] == "none" }
            ids.append(new)
        }
        for letter in await pair.record.announcements { await pair.home.relay.deliver(letter) }
        try await pair.push("second")
        #expect(try await pair.devices() == [ids[2]])
        let revoked = try await pair.desktop.value(.key(.revoked)).array?.compactMap { $0["id"]?.string }
        #expect(Set(revoked ?? []) == Set(ids.prefix(2)))
        await pair.close()
    }

    @Test("a device that was unpaired after its move was approved hears so under its new key")
    func unpairedMeanwhile() async throws {
        let pair = try await MovingPair()
        let (old, new) = (try await pair.deviceID(), try await pair.readyDeviceMove())
        await pair.device.close()
        _ = try await pair.desktop.value(.unpair(old))
        try await pair.reopenDesktop()
        try await pair.reopenDevice()
        #expect(try await pair.deviceID() == new)
        // Its registration at a relay that keeps nothing may come after the reminder.
        pair.desktop.perform(.stop)
        _ = try await pair.desktop.value(.start)
        try await until("it hears that it is unpaired") { try await pair.desktops().isEmpty }
        #expect(try await pair.devices().isEmpty)
        await pair.close()
    }

    // MARK: Attacks

    @Test("announcements that nobody approved, forged, cut, for others or from others, move nothing")
    func forged() async throws {
        let pair = try await MovingPair()
        let (old, desktop) = (try await pair.deviceID(), try await pair.desktopID())
        let (thief, mine) = (try SigningKey.generate(), try SigningKey.generate())
        let own = MoveStatement(from: mine, to: thief, for: PeerID(desktop), at: 5)
        var fields = own.fields
        fields["old"] = .string(old)
        let statements: [JSONObject] = [own.fields, fields, [:], ["v": 1], ["v": 1, "new": "x", "accept": true]]
        let letters = statements.flatMap { fields in
            [thief.did, mine.did, old, desktop].map { sender in
                HostileRelay.Letter(
                    from: sender, to: desktop, payload: ["type": "bellwire:rekey", "payload": .object(fields)],
                    isSealed: false)
            }
        }
        for letter in letters { await pair.home.relay.deliver(letter) }
        // The real one, announced by a relay before its user has approved it, and then by somebody else.
        let new = try await pair.rekeyDevice()
        _ = try await pair.desktopHost.event(.rekeyChanged) { $0["state"] == "confirming" }
        #expect(try await pair.devices() == [old])
        #expect(await pair.record.announcements.isEmpty, "until the switch a statement travels sealed")
        guard
            case .failure(let wrong) = await pair.desktop.outcome(.key(.confirmRekey(old, to: thief.did, accept: true)))
        else {
            Issue.record("another key was approved")
            return
        }
        #expect(wrong.code == .notFound)
        _ = try await pair.desktop.value(.key(.confirmRekey(old, to: new, accept: true)))
        for letter in letters { await pair.home.relay.deliver(letter) }
        try await pair.push("second")
        #expect(try await pair.devices() == [old])
        await pair.close()
    }

    @Test("a revoked device can't move any more, nor use the key that was approved for it")
    func revoked() async throws {
        let pair = try await MovingPair()
        let (old, new) = (try await pair.deviceID(), try await pair.readyDeviceMove())
        _ = try await pair.desktop.value(.key(.revoke(old)))
        let list = try await pair.desktop.value(.key(.revoked)).array?.compactMap { $0["id"]?.string }
        #expect(Set(list ?? []) == [old, new])
        try await pair.reopenDevice()
        #expect(try await pair.deviceID() == new)
        try await until("its frames are counted") {
            try await pair.desktop.value(.state)["counters"]?["revoked"]?.integer ?? 0 > 1
        }
        #expect(try await pair.devices().isEmpty)
        await pair.close()
    }

    // MARK: What can't move

    @EventLoop
    private func say(_ payload: JSONValue, from core: DeviceSwitchboard, to desktop: PeerID) {
        _ = core.sender.send(payload, to: desktop)
    }

    @Test("a pair that has used no session can't move, and a handle in memory neither: both by name")
    func unsupported() async throws {
        let home = try await AttackedHome()
        await home.relay.holdsHandshakes()
        try await home.pairOld()
        let next = try SigningKey.generate()
        guard case .failure(let error) = await outcome({ home.device.rekey(to: next, then: $0) }) else {
            Issue.record("it moved")
            return
        }
        #expect(error.code == .unsupported && error.detail["reason"] == "no_sessions")
        #expect(error.detail["peers"]?.array?.first?.string == home.desktopID)
        #expect(throws: HostError.self) { try home.device.keys.next() }
        // A statement in version 1 of the seal is refused.
        let before = try await home.onDesktop("downgraded") ?? 0
        let statement = MoveStatement(from: home.device.core.context.key, to: next, for: PeerID(home.desktopID), at: 5)
        let (core, desktop) = (home.device.core, PeerID(home.desktopID))
        await say(RekeyFrame.statement(statement).json, from: core, to: desktop)
        try await until("it is counted") { try await home.onDesktop("downgraded") ?? 0 > before }
        #expect(try await home.desktop.value(.key(.rekeyState))["questions"]?.array?.isEmpty == true)
        await home.close()
    }
}
