package import Hosting
import Identity
import Pairing
package import Peering
import Sharing
import Relay
package import Signalling
package import Store
import Transport

/// The source of truth: keeps the history, answers the methods, shows pairing codes, pushes to its devices.
///
/// This is the interface for the program's threads. Every call is passed to the event loop as a message, and its result
/// comes back through `then` or the program's channel.
package final class Desktop: SharableRole {
    let core: DesktopSwitchboard
    private let directory: StateDirectory
    let keys: KeyStore
    package var database: Database { core.store.database }

    /// What devices ask it to show is an event like others: it is in the history in any case.
    package var sources: [any EventSource] { [] }

    /// Opens the state directory, the key and the database. Blocks the caller.
    ///
    /// - Parameters:
    ///   - links: how it connects to relays; `nil` = with WebSockets.
    ///   - kinds: kinds of routes beside relays.
    package static func open(
        _ options: String?, _ channel: HostChannel, links: RelayLinkMaker? = nil, kinds: [RouteKind] = []
    ) throws(HostError) -> (Desktop, threaded: Bool) {
        let options = try DesktopOptions(parsing: options)
        return (try open(options, nil, channel, links: links, kinds: kinds), options.common.isThreaded)
    }

    /// - Parameter directory: the state directory, where it is locked already.
    static func open(
        _ options: DesktopOptions, _ directory: StateDirectory?, _ channel: HostChannel, links: RelayLinkMaker? = nil,
        kinds: [RouteKind] = []
    ) throws(HostError) -> Desktop {
        var stored: StoredDesktop?
        let state = try RoleState.open(
            options.common, in: directory, database: "desktop.db", migrations: DesktopSwitchboard.migrations,
            newest: DesktopSchema.newest, now: .now,
            moving: RoleState.MovingTables(
                peers: { (connection) throws(StoreError) in try PairedDevices(connection).all().map(\.id) },
                switched: { (connection) throws(StoreError) in try DevicePrekeyTable(connection).removeAll() }),
            rescue: .desktop
        ) { (state) throws(HostError) in stored = try StoredDesktop(state) }
        guard let stored else { throw .closed }
        do throws(TransportError) { try EventLoop.start() } catch {
            state.close()
            throw HostError(error)
        }
        let memory: RelayMemory?
        do throws(HostError) { memory = try options.relay.map { (relay) throws(HostError) in try .open(relay) } } catch
        {
            state.close()
            throw error
        }
        channel.report(state.rescue)
        if let damage = memory?.damage { channel.problem(ofRelay: damage) }
        let core = DesktopSwitchboard(
            options, state,
            relay: EmbeddedRelay(options.relay, memory: memory, signalingURL: options.signalingURL),
            devices: DeviceBook(
                stored.devices, outboxes: stored.outboxes,
                reminders: UnpairReminders(stored.notices, strangers: state.rescue.hasLostPairings)),
            host: HostReports(channel, unread: stored.unread),
            links: links ?? .webSockets(trusting: options.common.caFile), kinds: kinds)
        EventLoop.post { core.open() }
        return Desktop(core, state)
    }

    private init(_ core: DesktopSwitchboard, _ state: RoleState) {
        (self.core, directory, keys) = (core, state.directory, state.keys)
    }

    package func perform(_ call: DesktopCall, as identity: CommandIdentity, then: @escaping Then) {
        EventLoop.post { [core, keys] in DesktopCalls(core, keys).execute(call, as: identity, then) }
    }

    /// A desktop asks its program nothing.
    package func hostAnswers(_ hook: HostHook, _ answers: Bool) {}

    package func shutDown(then: @escaping @Sendable () -> Void) {
        EventLoop.post { [core, directory] in
            core.shutDown {
                directory.close()
                then()
            }
        }
    }
}
