import Alerts
import CLinux
import Delivery
import DeviceAlerts
package import Hosting
import Identity
import Inbox
import JSON
import Notifications
import OfflineQueue
import Pairing
package import Peering
import Sharing
package import Signalling
package import Store
import Transport
import Wire

/// The phone's part, in any program: pairs with desktops, receives their pushes, calls their methods.
///
/// This is the interface for the program's threads. Every call is passed to the event loop as a message, and its result
/// comes back through `then` or the program's channel.
package final class Device: SharableRole {
    let core: DeviceSwitchboard
    private let directory: StateDirectory
    let keys: KeyStore
    package var database: Database { core.context.database }

    package let sources: [any EventSource]

    /// Opens the state directory, the key and the database. Blocks the caller.
    ///
    /// - Parameters:
    ///   - links: makes the connections to relays; `nil` = over the network.
    ///   - kinds: kinds of routes beside relays.
    package static func open(
        _ options: String?, _ channel: HostChannel, links: RelayLinkMaker? = nil, kinds: [RouteKind] = []
    ) throws(HostError) -> (Device, threaded: Bool) {
        let options = try DeviceOptions(parsing: options)
        return (try open(options, nil, channel, nil, links: links, kinds: kinds), options.common.isThreaded)
    }

    /// - Parameters:
    ///   - directory: the state directory, where it is locked already.
    ///   - spool: of a device that programs share; `nil` = the program takes its stored events from ``sources``.
    static func open(
        _ options: DeviceOptions, _ directory: StateDirectory?, _ channel: HostChannel, _ spool: EventSpool?,
        links: RelayLinkMaker? = nil, kinds: [RouteKind] = []
    ) throws(HostError) -> Device {
        let common = options.common
        var opened: OpenedDevice?
        let state = try RoleState.open(
            common, in: directory, database: "device.db", migrations: DeviceSwitchboard.migrations,
            newest: DeviceSchema.newest, now: .now,
            moving: RoleState.MovingTables(
                peers: { (connection) throws(StoreError) in try PairedDesktops(connection).all().map(\.id) },
                switched: { (connection) throws(StoreError) in try PrekeyTable(connection).removeAll() }),
            rescue: .device
        ) { (state) throws(HostError) in
            do throws(StoreError) { opened = try OpenedDevice(options, state, channel, spool) } catch {
                throw HostError(error)
            }
        }
        guard let opened else { throw .closed }
        do throws(TransportError) { try EventLoop.start() } catch {
            state.close()
            throw HostError(error)
        }
        // Data that only opening needs.
        linux_trim_heap()
        channel.report(state.rescue)
        let relays = opened.context.relays(links ?? .webSockets(trusting: common.caFile))
        let core = DeviceSwitchboard(opened, over: kinds + [relays])
        for name in opened.waiting { channel.waits(name) }
        EventLoop.post {
            core.channel.moves.attach(to: core.routes, peers: core.desktops.movable) { [weak core] in core?.act($0) }
        }
        return Device(core, state, opened.waitingPushes)
    }

    private init(_ core: DeviceSwitchboard, _ state: RoleState, _ waiting: WaitingPushes) {
        (self.core, directory, keys) = (core, state.directory, state.keys)
        let database = state.database
        sources = [waiting] + KeptEvents.names.map { KeptEventSource($0, database) }
    }

    package func perform(_ call: DeviceCall, as identity: CommandIdentity, then: @escaping Then) {
        EventLoop.post { [core, keys] in DeviceCalls(core, keys).execute(call, as: identity, then) }
    }

    /// Whether the host has a callback that answers these questions.
    package func hostAnswers(_ hook: HostHook, _ answers: Bool) {
        EventLoop.post { [core] in core.alerts.all.hostAnswers(hook, answers) }
    }

    /// Opens the desktop environment's settings for notifications. Blocks for the time that takes.
    package func openNotificationSettings() throws(HostError) {
        try DeviceAlerts.openSettings(core.context.options.alerts)
    }

    package func requireHostPresenter() throws(HostError) {
        guard core.context.options.alerts.kind == .host else { throw .noHostPresenter }
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
