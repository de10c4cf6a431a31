package import Identity
package import Sealing
package import Store
import SystemServices
package import Wire

/// What a device or a desktop keeps: its directory, its key, its database.
///
/// The key lies beside the database, not in it: a damaged or removed database never makes a second peer out of one.
package struct RoleState: Sendable {
    package let directory: StateDirectory
    package let key: SigningKey
    package let database: Database
    /// The seal of this start; its epoch is in the store (WireSealing, "Replay protection").
    package let seal: Seal
    /// Path of a damaged database that was moved aside; a new one was created.
    package let movedAside: String?

    package struct Seal: Sendable {
        package let epoch: Int64
        package let windows: [PeerID: ReplayWindow]
        /// Which version each peer uses, and its preshared key.
        package let peers: [PeerID: SealPeers.Entry]
        /// Nothing in their names is accepted.
        package let revoked: Set<PeerID>

        package init(
            epoch: Int64, windows: [PeerID: ReplayWindow], peers: [PeerID: SealPeers.Entry] = [:],
            revoked: Set<PeerID> = []
        ) {
            self.epoch = epoch
            self.windows = windows
            self.peers = peers
            self.revoked = revoked
        }
    }

    /// For an opening that failed later on.
    package func close() {
        database.close()
        directory.close()
    }

    package static func open(
        _ options: CommonOptions, database name: String, migrations: [Migration], now: EpochMilliseconds
    ) throws(HostError) -> RoleState {
        let migrations = SealStates.migrations + migrations
        do throws(IdentityError) { try Identity.start() } catch { throw HostError(error) }
        guard let path = options.stateDirectory else {
            return try open(.inMemory(), try key(options, in: .inMemory()), databaseFile: ":memory:", migrations, now)
        }
        let directory = try StateDirectory.open(path)
        do throws(HostError) {
            return try open(
                directory, try key(options, in: directory),
                databaseFile: directory.file(name) ?? name, migrations, now)
        } catch {
            directory.close()
            throw error
        }
    }

    private static func key(
        _ options: CommonOptions, in directory: StateDirectory
    ) throws(HostError) -> SigningKey {
        guard let path = directory.path, let file = directory.file("identity.key") else {
            do throws(IdentityError) { return try SigningKey.generate() } catch { throw HostError(error) }
        }
        switch options.keys {
        case .file:
            do throws(IdentityError) { return try SigningKey.loadOrCreate(path: file) } catch { throw HostError(error) }
        case .secretService:
            return try KeyringKey.loadOrCreate(
                role: options.role, stateDirectory: path, file: file, service: SecretService(.session()))
        }
    }

    private static func open(
        _ directory: StateDirectory, _ key: SigningKey, databaseFile: String, _ migrations: [Migration],
        _ now: EpochMilliseconds
    ) throws(HostError) -> RoleState {
        do throws(StoreError) {
            let opened = try Database.open(path: databaseFile, migrations: migrations)
            let seal: Seal
            do throws(StoreError) {
                seal = try opened.database.run { (connection) throws(StoreError) in
                    let states = SealStates(connection)
                    return Seal(
                        epoch: try states.begin(now: now), windows: try states.windows(),
                        peers: try SealPeers(connection).all(),
                        revoked: Set(try RevokedKeys(connection).all().map(\.id)))
                }
            } catch {
                opened.database.close()
                throw error
            }
            return RoleState(
                directory: directory, key: key, database: opened.database, seal: seal, movedAside: opened.movedAside)
        } catch {
            throw HostError(error)
        }
    }
}
