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
import Store
import Transport
package import Wire

/// The phone's part, in any program: pairs with desktops, receives their pushes, calls their methods.
///
/// This is the interface for the program's threads. Every call is passed to the event loop as a message, and its result
/// comes back through `then` or the program's channel.
package final class Device: Role, KeyOwner {
    let core: DeviceSwitchboard
    private let directory: StateDirectory
    package let keys: KeyStore

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

    package func start() { EventLoop.post { [core] in core.start() } }

    package func stop() { EventLoop.post { [core] in core.stop() } }

    package func state(then: @escaping Then) { EventLoop.post { [core] in DeviceStatus(of: core).read(then) } }

    package func scan(_ text: String, timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in
            core.start()
            core.pairing.scan(text, timeout: timeout, then)
        }
    }

    package func show(timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in
            core.start()
            core.pairing.show(timeout: timeout, then)
        }
    }

    package func type(_ code: String, timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in
            core.start()
            core.pairing.type(code, timeout: timeout, then)
        }
    }

    /// `nil` = all flows.
    package func cancel(_ flow: DevicePairingFlow?) {
        EventLoop.post { [core] in core.pairing.cancel(flow) }
    }

    /// The user's answer about the desktop that a flow has reported; `nil` = in the only flow that asks.
    package func confirm(_ flow: DevicePairingFlow?, _ accept: Bool, then: @escaping Then) {
        EventLoop.post { [core] in core.pairing.flows.answer(flow?.flow, accept: accept, then) }
    }

    package func rename(_ desktop: String, to name: String, then: @escaping Then) {
        EventLoop.post { [core] in core.desktops.rename(desktop, to: name, then) }
    }

    package func unpair(_ desktop: String, then: @escaping Then) {
        EventLoop.post { [core] in core.desktops.unpair(desktop, then) }
    }

    package func unpairAll(then: @escaping Then) { EventLoop.post { [core] in core.desktops.unpairAll(then) } }

    /// Refuses this key from now on; a desktop that has it is unpaired.
    package func revoke(_ desktop: String, then: @escaping Then) {
        EventLoop.post { [core] in DesktopRevocation(core).revoke(desktop, then: then) }
    }

    package func readmit(_ desktop: String, then: @escaping Then) {
        EventLoop.post { [core] in DesktopRevocation(core).readmit(desktop, then: then) }
    }

    @EventLoop
    package var moves: KeyMoves { core.channel.moves }

    /// The refused keys.
    package func revoked(then: @escaping Then) { RevocationRequest.list(core.context.database, then: then) }

    package func suspend() { EventLoop.post { [core] in core.suspend() } }

    package func resume() { EventLoop.post { [core] in core.resume() } }

    package func desktops(then: @escaping Then) {
        EventLoop.post { [core] in
            then(.success(core.desktops.list(core.routes).serialized()))
        }
    }

    /// Sends `command` to the desktop of that id, or to the only one.
    func invoke(
        _ command: Command, _ identity: CommandIdentity = .new, desktop: String?, timeout: Int64,
        then: @escaping @Sendable (Result<Reply, HostError>) -> Void
    ) {
        EventLoop.post { [core] in
            // An earlier holder has put it into the queue.
            if let id = identity.id, identity.attempt == .repeated,
                core.queue.commands.contains(where: { $0.id == id })
            {
                return then(CommandOutcome.queued(id).reply)
            }
            core.commands.invoke(command, identity, desktop: desktop, timeout: timeout) { then($0.reply) }
        }
    }

    package func load(_ query: InboxQuery, then: @escaping Then) {
        EventLoop.post { [core] in InboxQueries(core.context, core.desktops, core.inbox).load(query, then) }
    }

    package func inbox(then: @escaping Then) {
        EventLoop.post { [core] in InboxQueries(core.context, core.desktops, core.inbox).describe(then) }
    }

    /// `nil` = every paired desktop.
    package func refresh(_ desktop: String?, timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.inbox.refresh(desktop, timeout: timeout, then) }
    }

    package func change(
        _ request: InboxRequest, desktop: String?, timeout: Int64,
        then: @escaping @Sendable (Result<Reply, HostError>) -> Void
    ) {
        EventLoop.post { [core] in core.inbox.change(request, desktop: desktop, timeout: timeout, then) }
    }

    /// The desktop's settings as last received.
    package func settings(of desktop: String?, then: @escaping Then) {
        EventLoop.post { [core] in core.updates.describeSettings(of: desktop, then) }
    }

    /// The commands that wait, as JSON.
    package func queue(then: @escaping Then) { EventLoop.post { [core] in core.queue.list(then) } }

    package func removeQueued(_ id: String, then: @escaping Then) {
        EventLoop.post { [core] in core.queue.carryOut(.remove(RequestID(id)), then) }
    }

    /// `nil` = all that have failed.
    package func retryQueued(_ id: String?, then: @escaping Then) {
        EventLoop.post { [core] in core.queue.carryOut(.retry(id.map { RequestID($0) }, now: .now), then) }
    }

    /// Takes out what has failed and was given before that moment; `nil` = all that has failed.
    package func clearQueue(before moment: Int64?, then: @escaping Then) {
        EventLoop.post { [core] in core.queue.carryOut(.clear(before: moment), then) }
    }

    package func give(_ token: PushToken, for service: PushService, then: @escaping Then) {
        EventLoop.post { [core] in
            core.tokens.give(token, for: service) { result in
                if case .success = result { EventLoop.post { core.pushServices.prekeys.tokenGiven() } }
                then(result)
            }
        }
    }

    /// `nil` = the tokens of all services.
    package func takeBackToken(of service: PushService?, then: @escaping Then) {
        EventLoop.post { [core] in
            core.tokens.takeBack(service, ended: { core.pushServices.prekeys.tokensTakenBack() }, then)
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
