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
