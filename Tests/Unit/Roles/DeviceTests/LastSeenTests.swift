import Store
import Testing
import Wire

@testable import Desktop
@testable import Device
@testable import Hosting
import Pairing
import Sealing

/// What is written once a minute for each peer: the second copy of the pairings has nothing to do with it.
@Suite struct LastSeenTests {
    /// Counts the commits at which the copy would read all pairings.
    private final class Counting: CommitObserver, @unchecked Sendable {
        let copy: PairingCopy
        private(set) var commits = 0

        init(_ rescue: RoleState.Rescue) {
            copy = PairingCopy("/nonexistent/copy", of: rescue.copied, settling: "", now: 1)
        }

        var isBehind: Bool { false }
        func follows(_ table: String, column: String?) -> Bool { copy.follows(table, column: column) }
        func opened(_ connection: Connection, damage: DatabaseDamage?) {}
        func willCommit(_ connection: Connection) { commits += 1 }
        func ended(committed: Bool) {}
    }

    private static let peer: PeerID = "did:key:z6MkPeer"

    @Test("a desktop that hears of a device reads no pairings, unless the form of its payloads is new")
    func desktop() throws {
        let counting = Counting(.desktop)
        let database = try Database.open(
            path: ":memory:", migrations: SealStates.migrations + DesktopSwitchboard.migrations, observer: counting
        ).database
        func run(_ work: @escaping @Sendable (PairedDevices) throws(StoreError) -> Void) throws {
            try database.run { connection throws(StoreError) in try work(PairedDevices(connection)) }
        }
        let device = PairedDevice(
            did: Self.peer, deviceID: "phone", name: "Phone", platform: "linux", pairedAt: 1, lastSeenAt: 1,
            isSecure: true, payloadForm: .object, shortString: nil)
        try run { devices throws(StoreError) in _ = try devices.upsert(device) }
        #expect(counting.commits == 1)
        for time in [EpochMilliseconds(2), 3] {
            try run { devices throws(StoreError) in try devices.touch(Self.peer, at: time, form: .object) }
        }
        #expect(counting.commits == 1)
        try run { devices throws(StoreError) in try devices.touch(Self.peer, at: 4, form: .text) }
        #expect(counting.commits == 2)
        let stored = try database.run { connection throws(StoreError) in try PairedDevices(connection).find(Self.peer) }
        #expect(stored?.lastSeenAt == 4 && stored?.payloadForm == .text)
        try run { devices throws(StoreError) in _ = try devices.rename(Self.peer, to: "Telephone") }
        #expect(counting.commits == 3)
    }

    @Test("a device that hears of a desktop, or of a relay that works, reads no pairings")
    func device() throws {
        let counting = Counting(.device)
        let database = try Database.open(
            path: ":memory:", migrations: SealStates.migrations + DeviceSwitchboard.migrations, observer: counting
        ).database
        func run(_ work: @escaping @Sendable (PairedDesktops) throws(StoreError) -> Void) throws {
            try database.run { connection throws(StoreError) in try work(PairedDesktops(connection)) }
        }
        try database.run { connection throws(StoreError) in
            _ = try connection.execute(
                """
                INSERT INTO paired_desktop (address, pc_peer_id, name, platform, relay_url, paired_at, last_seen_at, secure)
                VALUES (?, 'pc', 'Desk', 'linux', 'ws://relay', 1, 1, 1)
                """, [.text(Self.peer.text)])
        }
        #expect(counting.commits == 1)
        try run { desktops throws(StoreError) in
            try desktops.touch(Self.peer, at: 5)
            try desktops.worked("ws://relay", at: 6)
        }
        #expect(counting.commits == 1)
        #expect(
            try database.run { connection throws(StoreError) in try PairedDesktops(connection).lastWorkingURL() }
                == "ws://relay")
        try run { desktops throws(StoreError) in _ = try desktops.rename(Self.peer, to: "Desktop") }
        #expect(counting.commits == 2)
    }
}
