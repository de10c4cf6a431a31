package import Identity
package import Sealing
package import Store
import SystemServices
package import Wire

/// The stored state of a device or desktop: its directory, its key, its database.
///
/// The key lies beside the database, not in it: a damaged or removed database never makes a second peer out of one.
package struct RoleState: Sendable {
    package let directory: StateDirectory
    package let key: SigningKey
    package let database: Database
    /// The seal of this start; its epoch is in the store (WireSealing, "Replay protection").
    package let seal: Seal
    /// What was done about a damaged database, and what became of the pairings.
    package let rescue: Rescued
    /// Where the key lies.
    package let keys: KeyStore

    package struct Seal: Sendable {
        package let epoch: Int64
        package let windows: [PeerID: ReplayWindow]
        /// Which version each peer uses, and its preshared key.
        package let peers: [PeerID: SealPeers.Entry]
        /// Nothing in their names is accepted.
        package let revoked: Set<PeerID>
        /// Moves to other keys, of this side and of its peers.
        package let moves: StoredMoves

        package init(
            epoch: Int64, windows: [PeerID: ReplayWindow], peers: [PeerID: SealPeers.Entry] = [:],
            revoked: Set<PeerID> = [], moves: StoredMoves = StoredMoves()
        ) {
            self.epoch = epoch
            self.windows = windows
            self.peers = peers
            self.revoked = revoked
            self.moves = moves
        }
    }

    /// The role's tables, as far as a move of its own key concerns them.
    package struct MovingTables: Sendable {
        package typealias Work<T> = @Sendable (Connection) throws(StoreError) -> T

        let peers: Work<[PeerID]>
        let switched: Work<Void>

        /// - Parameters:
        ///   - peers: reads the ids of the paired peers.
        ///   - switched: removes what is of no use with another key, in the transaction that records the switch.
        package init(
            peers: @escaping Work<[PeerID]> = { _ in [] }, switched: @escaping Work<Void> = { _ in }
        ) {
            (self.peers, self.switched) = (peers, switched)
        }
    }

    /// What of the role's tables outlives a damaged database.
    package struct Rescue: Sendable {
        let copy: String
        let copied: [CopiedTable]
        let salvaged: [String]
        let settling: String

        /// - Parameters:
        ///   - copy: the name of the file with the second copy.
        ///   - copied: the tables of the pairings, which it holds beside those of the seal.
        ///   - salvaged: tables that are taken over as far as they can be read, in this order.
        ///   - settling: SQL that makes them fit, after pairings were restored or lost.
        package init(copy: String, copied: [CopiedTable], salvaged: [String], settling: String) {
            (self.copy, self.copied, self.settling) = (copy, copied, settling)
            self.salvaged = salvaged + ["seal_window"]
        }
    }

    package struct Rescued: Sendable {
        /// The database was damaged: where it is now, and what was taken over.
        package internal(set) var damage: DatabaseDamage?
        package internal(set) var pairings = PairingCopy.Outcome.kept
        /// Pairings were lost in the last 30 days: peers that are not known may believe that they are paired.
        package internal(set) var hasLostPairings = false
    }

    package struct StoredMoves: Sendable {
        /// `nil` = this side has never moved.
        package var own: OwnMove?
        package var peers = PeerMoves()
        /// The key that is to follow, while peers are being asked.
        package var next: SigningKey?

        package init() {}
    }

    /// For an opening that failed later on.
    package func close() {
        database.close()
        directory.close()
    }

    /// If every paired peer has approved a move to the next key, this start takes it (WireRekey, "Switch").
    ///
    /// A database that can be read, but says what can't be, is damaged, too: it is moved aside, and opened again.
    ///
    /// - Parameters:
    ///   - held: the state directory, where it is locked already; after a failure it is closed.
    ///   - migrations: the role's own; those of the seal come before them.
    ///   - newest: SQL that makes in an empty database what all of them make.
    ///   - tables: what the role keeps that a move concerns.
    ///   - rescue: what outlives a damaged database; `nil` = nothing.
    ///   - read: reads what the role starts with.
    package static func open(
        _ options: CommonOptions, in held: StateDirectory? = nil, database name: String, migrations: [Migration],
        newest: String? = nil, now: EpochMilliseconds, moving tables: MovingTables = MovingTables(),
        rescue: Rescue? = nil,
        read: (RoleState) throws(HostError) -> Void = { _ in }
    ) throws(HostError) -> RoleState {
        do throws(IdentityError) { try Identity.start() } catch {
            held?.close()
            throw HostError(error)
        }
        var damage: DatabaseDamage?
        let directory: StateDirectory
        if let held {
            directory = held
        } else if let path = options.stateDirectory {
            directory = try .open(path)
        } else {
            directory = .inMemory()
        }
        do throws(HostError) {
            // Salvaged rows may be what is bad: the last try does without.
            for isLast in [false, false, true] {
                do throws(HostError) {
                    return try open(
                        directory, KeyStore(options, in: directory), name,
                        (SealStates.migrations + migrations, newest), now, tables, rescue,
                        salvaging: isLast ? [] : rescue?.salvaged ?? [], isDamaged: damage != nil, &damage, read
                    )
                } catch {
                    guard error.isDamage, !isLast, directory.path != nil else { throw error }
                    damage = damage ?? DatabaseDamage(movedAside: "")
                }
            }
            throw HostError(.store, "the database is damaged")
        } catch {
            directory.close()
            throw error
        }
    }

    /// - Parameter damage: of the tries before. What they have moved aside first has the most.
    private static func open(
        _ directory: StateDirectory, _ keys: KeyStore, _ name: String,
        _ schema: (migrations: [Migration], newest: String?), _ now: EpochMilliseconds, _ tables: MovingTables,
        _ rescue: Rescue?, salvaging: [String], isDamaged: Bool, _ damage: inout DatabaseDamage?,
        _ read: (RoleState) throws(HostError) -> Void
    ) throws(HostError) -> RoleState {
        // Before the database: a directory whose key can't be read stays as it is.
        var key = try keys.current()
        var copy: PairingCopy?
        if let rescue, let path = directory.file(rescue.copy) {
            copy = PairingCopy(path, of: rescue.copied, settling: rescue.settling, now: now)
        }
        let opened: Database.Opened
        do throws(StoreError) {
            opened = try Database.open(
                path: directory.file(name) ?? ":memory:", migrations: schema.migrations,
                newest: schema.newest, salvaging: salvaging, isDamaged: isDamaged, observer: copy)
        } catch {
            throw HostError(error)
        }
        if var found = opened.damage {
            if let first = damage?.movedAside, !first.isEmpty { found.movedAside = first }
            damage = found
        }
        do throws(HostError) {
            var moves = try moves(in: opened.database)
            if try isDue(moves.own, key, keys, opened.database, tables) {
                try keys.takeNext()
                key = try keys.current()
            }
            try settle(&moves, key, keys, opened.database, tables)
            var rescued = Rescued(damage: damage)
            if let copy {
                rescued.pairings = copy.outcome
                rescued.hasLostPairings = copy.lostAt.map { now &- $0 < 30 * 86_400_000 } ?? false
            }
            let state = RoleState(
                directory: directory, key: key, database: opened.database,
                seal: try seal(in: opened.database, moves, now), rescue: rescued, keys: keys)
            try read(state)
            return state
        } catch {
            opened.database.close()
            throw error
        }
    }

    private static func seal(
        in database: Database, _ moves: StoredMoves, _ now: EpochMilliseconds
    ) throws(HostError) -> Seal {
        do throws(StoreError) {
            return try database.run { (connection) throws(StoreError) in
                let states = SealStates(connection)
                return Seal(
                    epoch: try states.begin(now: now), windows: try states.windows(),
                    peers: try SealPeers(connection).all(),
                    revoked: Set(try RevokedKeys(connection).all().map(\.id)), moves: moves)
            }
        } catch {
            throw HostError(error)
        }
    }
}

// The own move to another key: what a start makes of it.
extension RoleState {
    private static func moves(in database: Database) throws(HostError) -> StoredMoves {
        do throws(StoreError) {
            return try database.run { (connection) throws(StoreError) in
                var moves = StoredMoves()
                moves.own = try MoveTables(connection).own()
                moves.peers = try MoveTables(connection).peers()
                return moves
            }
        } catch {
            throw HostError(error)
        }
    }

    /// Whether all peers have approved, and the key is there.
    private static func isDue(
        _ move: OwnMove?, _ key: SigningKey, _ keys: KeyStore, _ database: Database, _ tables: MovingTables
    ) throws(HostError) -> Bool {
        guard let move, move.isAsking, move.old.text == key.did else { return false }
        let paired: [PeerID]
        do throws(StoreError) { paired = try database.run(tables.peers) } catch { throw HostError(error) }
        guard move.isReady(paired) else { return false }
        return try keys.storedNext()?.did == move.new.text
    }

    /// Records what the key in use says: it may have been replaced just before the process died.
    private static func settle(
        _ moves: inout StoredMoves, _ key: SigningKey, _ keys: KeyStore, _ database: Database, _ tables: MovingTables
    ) throws(HostError) {
        guard var move = moves.own, move.isAsking else { return }
        if move.new.text == key.did {
            move.switchOver()
            if try keys.storedNext()?.did == key.did { try keys.dropNext() }
        } else if let next = try keys.storedNext(), next.did == move.new.text, move.old.text == key.did {
            moves.next = next
            return
        } else {
            // One of the keys is gone: nothing can come of this move any more.
            _ = move.cancel()
        }
        moves.own = move
        let changed = move
        do throws(StoreError) {
            try database.run { (connection) throws(StoreError) in
                if changed.isSwitched { try tables.switched(connection) }
                try MoveTables(connection).save(changed)
            }
        } catch {
            throw HostError(error)
        }
    }
}
