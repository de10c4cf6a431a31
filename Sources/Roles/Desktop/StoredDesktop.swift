import Commands
import Delivery
import History
import Hosting
import Pairing
import Sealing
import Signalling
import Store
import Wire

/// The stored state of a desktop when it is opened.
struct StoredDesktop: Sendable {
    let devices: [PairedDevice]
    let notices: [PeerID]
    let outboxes: [PeerID: Outbox.Position]
    let unread: Int64

    /// Blocks the caller.
    init(_ state: RoleState) throws(HostError) {
        do throws(StoreError) {
            (devices, notices, outboxes, unread) = try state.database.run { (connection) throws(StoreError) in
                try AnswerTable(connection).closeAll()
                try HistoryCounts(connection).repair()
                let devices = try PairedDevices(connection).all()
                let notices = try UnpairNotices(connection).all(now: .now)
                let revoked = try RevokedKeys(connection).all().map(\.id)
                try SealPeers(connection).keep(only: devices.map(\.did) + notices + revoked)
                return (
                    devices, notices, try Outbox(connection).positions(), try History(connection).unreadCount()
                )
            }
        } catch {
            throw HostError(error)
        }
    }
}

extension RoleState.Rescue {
    /// The history, what devices don't have yet, and who may do what.
    static let desktop = RoleState.Rescue(
        copy: "desktop.pairings",
        copied: [
            CopiedTable(
                "paired_device", .grants,
                "did, device_id, name, platform, paired_at, last_seen_at, secure, text_payload, sas",
                values: "did, device_id, name, platform, paired_at, paired_at, secure, text_payload, sas"),
            CopiedTable("allowance", .restricts, keys: 2, "device, skill, risk"),
            CopiedTable("skill_off", .restricts, "name"),
            CopiedTable("unpair_notice", .restricts, "did, since"),
        ],
        salvaged: [
            "peer", "history", "setting", "push_count", "outbox_push", "outbox", "outbox_epoch", "device_token",
            "command_answer", "schedule", "device_group",
        ],
        // Where the replay window is lost, frames of version 1 could be replayed: sessions alone count. Devices that are
        // not paired get nothing. A device's position fits its entries.
        settling: """
            INSERT INTO seal_peer (peer, minimum) SELECT did, 2 FROM paired_device
                WHERE secure = 1 AND did NOT IN (SELECT peer FROM seal_window)
                ON CONFLICT (peer) DO UPDATE SET minimum = 2;
            DELETE FROM outbox WHERE seq NOT BETWEEN 1 AND 1 << 53
                OR device NOT IN (SELECT number FROM peer JOIN paired_device ON did = id);
            DELETE FROM push_count WHERE peer <> 0
                AND peer NOT IN (SELECT number FROM peer JOIN paired_device ON did = id);
            DELETE FROM outbox_epoch WHERE device NOT IN (SELECT number FROM peer JOIN paired_device ON did = id);
            INSERT INTO push_count (peer, last, acknowledged)
                SELECT device, max(seq), min(seq) - 1 FROM outbox WHERE true GROUP BY device
                ON CONFLICT (peer) DO UPDATE SET
                    last = max(last, excluded.last), acknowledged = min(acknowledged, excluded.acknowledged);
            \(Outbox.noteSent)
            DELETE FROM device_token WHERE device NOT IN (SELECT did FROM paired_device);
            """)
}
