import Commands
import Delivery
package import History
package import Hosting
import Identity
import JSON
import Notifications
import Pairing
package import Peering
import Relay
package import Signalling
import Store
import Transport
package import Wire

/// The source of truth: keeps the history, answers the methods, shows pairing codes, pushes to its devices.
///
/// This is the interface for the program's threads. Every call is passed to the event loop as a message, and its result
/// comes back through `then` or the program's channel.
package final class Desktop: Role, KeyOwner {
    let core: DesktopSwitchboard
    private let directory: StateDirectory
    package let keys: KeyStore

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
        if let path = memory?.movedAside { channel.problem(relayMovedAside: path) }
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

    package func start(then: @escaping Then) {
        EventLoop.post { [core] in core.pair(then) { _ in then(.success("{}")) } }
    }

    package func stop() { EventLoop.post { [core] in core.stop() } }

    package func state(then: @escaping Then) { EventLoop.post { [core] in core.describe(then) } }

    package func offer(timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.pair(then) { $0.offer(timeout: timeout, then) } }
    }

    package func scan(_ text: String, then: @escaping Then) {
        EventLoop.post { [core] in core.pair(then) { $0.scan(text, then) } }
    }

    package func code(timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.pair(then) { $0.code(timeout: timeout, then) } }
    }

    /// Ends a flow; `nil` = all three.
    package func cancel(_ flow: Flow?) { EventLoop.post { [core] in core.pairing.cancel(flow?.pairing) } }

    /// The user's answer; `nil` = in the only flow that asks.
    package func confirm(_ flow: Flow?, _ accept: Bool, then: @escaping Then) {
        EventLoop.post { [core] in core.pairing.confirm(flow?.pairing, accept: accept, then) }
    }

    package func rename(_ device: String, to name: String, then: @escaping Then) {
        EventLoop.post { [core] in core.rename(PeerID(device), to: name, then) }
    }

    package func unpair(_ device: String, then: @escaping Then) {
        EventLoop.post { [core] in DeviceUnpairing(core).unpair(PeerID(device), then: then) }
    }

    /// Refuses this key from now on; a device that has it is unpaired.
    package func revoke(_ device: String, then: @escaping Then) {
        EventLoop.post { [core] in DeviceRevocation(core).revoke(device, then: then) }
    }

    package func readmit(_ device: String, then: @escaping Then) {
        EventLoop.post { [core] in DeviceRevocation(core).readmit(device, then: then) }
    }

    @EventLoop
    package var moves: KeyMoves { core.channel.moves }

    /// The refused keys.
    package func revoked(then: @escaping Then) { RevocationRequest.list(core.store.database, then: then) }

    package func clear(then: @escaping Then) {
        EventLoop.post { [core] in DeviceUnpairing(core).unpairAll(then: then) }
    }

    package func devices(then: @escaping Then) {
        EventLoop.post { [core] in then(.success(core.devices.json.serialized())) }
    }

    package func tokens(then: @escaping Then) { core.store.tokens(then: then) }

    /// Seals a push for a push service; gives the service's payload.
    package func seal(_ request: SealRequest, then: @escaping Then) {
        EventLoop.post { [core] in core.services.seal(request.request, then) }
    }

    package func permissions(then: @escaping Then) {
        EventLoop.post { [core] in core.store.permissions(of: core.devices.all, then: then) }
    }

    package func allow(_ allowance: Permissions.Allowance, _ skill: String, to device: String, then: @escaping Then) {
        EventLoop.post { [core] in core.records.allow(allowance, skill, to: PeerID(device), then: then) }
    }

    package func enable(_ skill: String, _ isEnabled: Bool, then: @escaping Then) {
        core.store.enable(skill, isEnabled, then: then)
    }

    /// - Parameter id: of a call that may come again: it is carried out once.
    package func notify(_ notice: Notice, id: RequestID? = nil, timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.execute { $0.notify(notice, id: id, timeout: timeout, then) } }
    }

    package func history(_ query: HistoryQuery, then: @escaping Then) {
        EventLoop.post { [core] in core.execute { $0.history(query, then) } }
    }

    package func invoke(_ command: OwnCommand, id: RequestID? = nil, timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.execute { $0.invoke(command, id: id, timeout: timeout, then) } }
    }

    package func answer(_ request: OwnRequest, then: @escaping Then) {
        EventLoop.post { [core] in
            if core.isClosed { then(.failure(.closed)) } else { core.answer(request, then) }
        }
    }

    package func shutDown(then: @escaping @Sendable () -> Void) {
        EventLoop.post { [core, directory] in
            core.shutDown {
                directory.close()
                then()
            }
        }
    }
}

extension HostChannel {
    fileprivate func problem(relayMovedAside path: String) {
        problem(
            "database_damaged",
            "the relay's database was damaged and was moved aside to \(path); a new one was created. Proved ids "
                + "are remembered again when they register")
    }
}
