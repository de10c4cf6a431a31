import Foundation
import Identity
import JSON
import Store
import Testing
import Wire

@testable import Pairing

@Suite struct PairedPeersTests {
    private let database: Database

    init() throws {
        database = try Database.open(
            path: ":memory:", migrations: PairedDesktops.migrations + PairedDevices.migrations
        ).database
    }

    private func desktop(_ id: String = "pc", pairedAt: EpochMilliseconds = 10) -> PairedDesktop {
        PairedDesktop(
            address: PeerID(id), pcPeerID: PeerID("own-\(id)"), name: "PC", platform: "win32",
            lanSignalingURL: "ws://lan", relayURL: "wss://relay", iceServersJSON: "[1]", iceExpiry: 99,
            pairedAt: pairedAt, lastSeenAt: pairedAt)
    }

    private func device(_ did: String = "did:key:zA", pairedAt: EpochMilliseconds = 10) -> PairedDevice {
        PairedDevice(
            did: PeerID(did), deviceID: "i-1", name: "Phone", platform: "ios", pairedAt: pairedAt,
            lastSeenAt: pairedAt, payloadForm: .text)
    }

    @Test("a desktop is stored whole and found by either of its ids")
    func desktopWhole() throws {
        let desktop = desktop()
        let stored = try database.run { (connection) throws(StoreError) in
            try PairedDesktops(connection).upsert(desktop)
        }
        #expect(stored == desktop)
        let found = try database.run { (connection) throws(StoreError) in
            let desktops = PairedDesktops(connection)
            return [try desktops.find("pc"), try desktops.find("own-pc"), try desktops.find("other")]
        }
        #expect(found == [desktop, desktop, nil])
    }

    @Test("an address wins over another desktop's own name for itself")
    func addressWins() throws {
        var second = desktop("second", pairedAt: 20)
        second.pcPeerID = "pc"
        let (first, other) = (desktop(), second)
        let found = try database.run { (connection) throws(StoreError) in
            let desktops = PairedDesktops(connection)
            _ = try desktops.upsert(other)
            _ = try desktops.upsert(first)
            return try desktops.find("pc")
        }
        #expect(found == first)
    }

    @Test("pairing again keeps pairedAt and what the new code does not say, and takes what it does")
    func desktopAgain() throws {
        let first = desktop()
        var again = desktop(pairedAt: 50)
        again.name = "PC 2"
        again.lanSignalingURL = nil
        again.relayURL = "wss://new"
        again.iceServersJSON = nil
        again.iceExpiry = nil
        let second = again
        let stored = try database.run { (connection) throws(StoreError) in
            let desktops = PairedDesktops(connection)
            _ = try desktops.upsert(first)
            return try desktops.upsert(second)
        }
        #expect(stored.pairedAt == 10)
        #expect(stored.lastSeenAt == 50)
        #expect(stored.name == "PC 2")
        #expect(stored.lanSignalingURL == "ws://lan")
        #expect(stored.relayURL == "wss://new")
        #expect(stored.iceServersJSON == "[1]")
        #expect(stored.iceExpiry == 99)
    }

    @Test("a pairing that was sealed is never changed by one that was not")
    func sealed() throws {
        var sealedDesktop = desktop()
        sealedDesktop.isSecure = true
        var sealedDevice = device()
        sealedDevice.isSecure = true
        var plainDesktop = desktop(pairedAt: 50)
        plainDesktop.name = "Evil"
        var plainDevice = device(pairedAt: 50)
        plainDevice.name = "Evil"
        let (desktopIn, deviceIn, evilDesktop, evilDevice) = (sealedDesktop, sealedDevice, plainDesktop, plainDevice)
        let (desktopOut, deviceOut) = try database.run { (connection) throws(StoreError) in
            _ = try PairedDesktops(connection).upsert(desktopIn)
            _ = try PairedDevices(connection).upsert(deviceIn)
            return (
                try PairedDesktops(connection).upsert(evilDesktop), try PairedDevices(connection).upsert(evilDevice)
            )
        }
        #expect(desktopOut == sealedDesktop)
        #expect(deviceOut == sealedDevice)
    }

    @Test("desktops are listed by age, renamed, heard of, updated and removed")
    func desktopLife() throws {
        let (old, young) = (desktop("z-old", pairedAt: 1), desktop("a-young", pairedAt: 2))
        try database.run { (connection) throws(StoreError) in
            let desktops = PairedDesktops(connection)
            _ = try desktops.upsert(young)
            _ = try desktops.upsert(old)
            #expect(try desktops.all().map(\.id) == ["z-old", "a-young"])
            #expect(try desktops.rename("z-old", to: " New\u{0}\nname ") == true)
            #expect(try desktops.rename("nobody", to: "x") == false)
            try desktops.touch("z-old", at: 100)
            try desktops.touch("z-old", at: 5)
            #expect(
                try desktops.update("z-old", with: ICEConfig(pcPeerID: nil, iceServersJSON: "[2]", iceExpiry: nil))
                    == true)
            let changed = try desktops.find("z-old")
            #expect(changed?.name == "New name")
            #expect(changed?.lastSeenAt == 100)
            #expect(changed?.iceServersJSON == "[2]")
            #expect(changed?.iceExpiry == nil)
            #expect(try desktops.remove("z-old") == true)
            #expect(try desktops.remove("z-old") == false)
            #expect(try desktops.all() == [young])
        }
    }

    @Test("devices: stored whole, pairedAt kept, listed, renamed, heard of, found by device id, removed")
    func deviceLife() throws {
        let (first, again, other) = (device(), device(pairedAt: 50), device("did:key:zB", pairedAt: 5))
        try database.run { (connection) throws(StoreError) in
            let devices = PairedDevices(connection)
            #expect(try devices.upsert(first) == first)
            let stored = try devices.upsert(again)
            #expect(stored.pairedAt == 10)
            #expect(stored.lastSeenAt == 50)
            _ = try devices.upsert(other)
            #expect(try devices.all().map(\.id) == ["did:key:zB", "did:key:zA"])
            #expect(try devices.find(deviceID: "i-1")?.did == "did:key:zA")
            #expect(try devices.find(deviceID: "nobody") == nil)
            #expect(try devices.rename("did:key:zA", to: "N") == true)
            try devices.touch("did:key:zA", at: 70, form: .object)
            let changed = try devices.find("did:key:zA")
            #expect(changed?.name == "N")
            #expect(changed?.lastSeenAt == 70)
            #expect(changed?.payloadForm == .object)
            #expect(try devices.remove("did:key:zA") == true)
            #expect(try devices.find("did:key:zA") == nil)
        }
    }

    @Test("the urls that worked and when, and the short string, are stored; a url that changes loses its past")
    func urlsThatWorked() throws {
        let sas = try #require(ShortAuthenticationString(bits: 0xABCDE))
        var whole = desktop()
        whole.lanWorkedAt = 11
        whole.relayWorkedAt = 12
        whole.isSecure = true
        whole.shortString = sas
        var again = whole
        again.lanSignalingURL = nil
        again.lanWorkedAt = nil
        again.relayURL = "wss://new"
        again.relayWorkedAt = nil
        let (first, second) = (whole, again)
        try database.run { (connection) throws(StoreError) in
            let desktops = PairedDesktops(connection)
            #expect(try desktops.lastWorkingURL() == nil)
            #expect(try desktops.upsert(first) == first)
            #expect(try desktops.lastWorkingURL() == "wss://relay")
            try desktops.worked("ws://lan", at: 20)
            try desktops.worked("ws://lan", at: 15)
            try desktops.worked("ws://elsewhere", at: 99)
            #expect(try desktops.find("pc")?.lanWorkedAt == 20)
            #expect(try desktops.lastWorkingURL() == "ws://lan")
            let stored = try desktops.upsert(second)
            #expect(stored.lanSignalingURL == "ws://lan")
            #expect(stored.lanWorkedAt == 20)
            #expect(stored.relayURL == "wss://new")
            #expect(stored.relayWorkedAt == nil)
            #expect(stored.shortString == sas)
        }
    }

    @Test("a typed code of a deployed desktop, which says no name, leaves the one that is known")
    func nameless() throws {
        let first = desktop()
        var again = desktop(pairedAt: 50)
        again.name = ""
        again.platform = ""
        let second = again
        let stored = try database.run { (connection) throws(StoreError) in
            _ = try PairedDesktops(connection).upsert(first)
            return try PairedDesktops(connection).upsert(second)
        }
        #expect(stored.name == "PC")
        #expect(stored.platform == "win32")
    }

    @Test("a device keeps its short string; clear gives back everybody who was there")
    func clear() throws {
        var sealed = device()
        sealed.isSecure = true
        sealed.shortString = ShortAuthenticationString(bits: 7)
        let (first, other) = (sealed, desktop())
        try database.run { (connection) throws(StoreError) in
            #expect(try PairedDevices(connection).upsert(first) == first)
            _ = try PairedDesktops(connection).upsert(other)
            #expect(try PairedDevices(connection).clear() == [first])
            #expect(try PairedDesktops(connection).clear() == [other])
            #expect(try PairedDevices(connection).all() == [])
            #expect(try PairedDesktops(connection).all() == [])
        }
    }

    @Test("ICE credentials are too old from their expiry on, in seconds; those without one never are")
    func iceExpiry() {
        var desktop = desktop()
        #expect(!desktop.iceIsExpired(at: 98_999))
        #expect(desktop.iceIsExpired(at: 99_000))
        #expect(desktop.iceIsExpired(at: .max))
        #expect(!desktop.iceIsExpired(at: .min))
        // As it is listed: pair again, or wait for new ones.
        #expect(desktop.json(at: 98_999)["iceExpired"] == nil)
        #expect(desktop.json(at: 99_000)["iceExpired"] == true)
        #expect(desktop.json(at: 99_000)["iceServers"] == nil, "they hold credentials")
        desktop.iceExpiry = 100
        #expect(desktop.json(at: 99_000)["iceExpired"] == nil)
        desktop.iceExpiry = nil
        #expect(!desktop.iceIsExpired(at: .max))
        desktop.iceExpiry = 5
        desktop.iceServersJSON = nil
        #expect(!desktop.iceIsExpired(at: .max))
    }

    @Test("a database of before these columns takes them, and keeps its rows")
    func migrates() throws {
        let folder = try FileManager.default.url(
            for: .itemReplacementDirectory, in: .userDomainMask,
            appropriateFor: FileManager.default.temporaryDirectory, create: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("old.db").path
        let old = try Database.open(path: path, migrations: Array(PairedDesktops.migrations.prefix(1))).database
        try old.run { (connection) throws(StoreError) in
            try connection.execute(
                """
                INSERT INTO paired_desktop (address, pc_peer_id, name, platform, paired_at, last_seen_at, secure)
                VALUES ('pc', 'own', 'PC', 'win32', 1, 2, 0)
                """)
        }
        old.close()
        let new = try Database.open(path: path, migrations: PairedDesktops.migrations).database
        defer { new.close() }
        let desktops = try new.run { (connection) throws(StoreError) in try PairedDesktops(connection).all() }
        #expect(
            desktops == [
                PairedDesktop(
                    address: "pc", pcPeerID: "own", name: "PC", platform: "win32", pairedAt: 1, lastSeenAt: 2)
            ])
    }

    @Test("hosts see the fields of the header, and no credentials")
    func json() {
        let text = JSONValue.object(desktop().json).serialized()
        #expect(
            text
                == #"{"id":"pc","name":"PC","platform":"win32","secure":false,"pairedAt":10,"lastSeenAt":10,"#
                + #""signalingUrl":"ws://lan","relayUrl":"wss://relay"}"#)
        #expect(
            JSONValue.object(device().json).serialized()
                == #"{"id":"did:key:zA","deviceId":"i-1","name":"Phone","platform":"ios","secure":false,"#
                + #""pairedAt":10,"lastSeenAt":10}"#)
    }
}
