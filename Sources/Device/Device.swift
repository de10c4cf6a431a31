import Alerts
import CLinux
import Delivery
package import Hosting
import Identity
import Inbox
import JSON
import Notifications
import OfflineQueue
import Pairing
import Signalling
import Store
import Transport
package import Wire

/// The phone's part, in any program: pairs with desktops, receives their pushes, calls their methods.
///
/// This is the side that a host's threads see. Everything goes to the event loop as a message, and comes back through
/// `then` or the host's channel.
package final class Device: Role {
    let core: DeviceCore
    private let directory: StateDirectory

    package let sources: [any EventSource]

    /// Opens the state directory, the key and the database. Blocks the caller.
    package static func open(
        _ options: String?, _ channel: HostChannel
    ) throws(HostError) -> (Device, threaded: Bool) {
        let options = try DeviceOptions(parsing: options)
        let common = options.common
        let state = try RoleState.open(common, database: "device.db", migrations: DeviceCore.migrations, now: .now)
        let desktops: [PairedDesktop]
        let waiting: [HostEvent.Name]
        let queue: OfflineQueue
        let revisions: [PeerID: Int64]
        let marks: Inbox.Watermarks
        let lastPushes: [PeerID: Int64]
        let removals: [PushTokensStateMachine.Removal]
        let alerts: AlertCenter.Stored?
        let isShowing = options.alerts.kind != .none
        do throws(StoreError) {
            (desktops, waiting, marks, lastPushes) = try state.database.run { (connection) throws(StoreError) in
                // A device reads little at a time, and shares its memory with the program that embeds it.
                _ = try connection.first("PRAGMA cache_size = -128") { (row) throws(StoreError) in try row.integer(0) }
                let inbox = Inbox(connection)
                try inbox.repairCounts()
                let marks = try inbox.watermarks()
                let kept = KeptEvents(connection)
                var waiting: [HostEvent.Name] = marks.waiting > 0 ? [.notificationReceived] : []
                for name in KeptEvents.names {
                    try kept.recover(name)
                    if try kept.count(name) > 0 { waiting.append(name) }
                }
                return (
                    try PairedDesktops(connection).all(), waiting, marks, try ReceivedPushes(connection).all()
                )
            }
            (queue, revisions, removals, alerts) = try state.database.run { (connection) throws(StoreError) in
                let table = QueueTable(connection)
                var queue = try table.load()
                try table.save(queue.recover())
                try Inbox(connection).recoverChanges(queued: Set(queue.commands.map(\.id)))
                return (
                    queue, try table.revisions(), try PushTokenTable(connection).removals(),
                    isShowing ? try AlertCenter.Stored.load(connection) : nil
                )
            }
        } catch {
            state.close()
            throw HostError(error)
        }
        do throws(TransportError) { try EventLoop.start() } catch {
            state.close()
            throw HostError(error)
        }
        // What opening took, and nobody needs any more.
        linux_trim_heap()
        if let path = state.movedAside { channel.problem(movedAside: path) }
        let pushes = DeviceCore.StoredPushes(
            waiting: WaitingPushes(state.database, marks), committed: lastPushes.map { ($0.key, $0.value) })
        let core = DeviceCore(
            options: options, state: state, desktops: desktops, pushes: pushes, queue: queue,
            revisions: revisions, removals: removals, alerts: alerts, channel: channel)
        for name in waiting { channel.waits(name) }
        return (Device(core, state, pushes.waiting), common.isThreaded)
    }

    private init(_ core: DeviceCore, _ state: RoleState, _ waiting: WaitingPushes) {
        (self.core, directory) = (core, state.directory)
        let database = state.database
        sources = [waiting] + KeptEvents.names.map { KeptEventSource($0, database) }
    }

    package func start() { EventLoop.post { [core] in core.start() } }

    package func stop() { EventLoop.post { [core] in core.stop() } }

    package func state(then: @escaping Then) { EventLoop.post { [core] in core.describe(then) } }

    package func scan(_ text: String, timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.scan(text, timeout: timeout, then) }
    }

    package func show(timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.show(timeout: timeout, then) }
    }

    package func type(_ code: String, timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.type(code, timeout: timeout, then) }
    }

    /// `nil` = all flows.
    package func cancel(_ flow: DevicePairingFlow?) {
        EventLoop.post { [core] in if let flow { core.cancel(flow) } else { core.cancelFlows() } }
    }

    package func rename(_ desktop: String, to name: String, then: @escaping Then) {
        EventLoop.post { [core] in core.rename(desktop, to: name, then) }
    }

    package func unpair(_ desktop: String, then: @escaping Then) {
        EventLoop.post { [core] in core.unpair(desktop, then) }
    }

    package func unpairAll(then: @escaping Then) { EventLoop.post { [core] in core.unpairAll(then) } }

    package func suspend() { EventLoop.post { [core] in core.suspend() } }

    package func resume() { EventLoop.post { [core] in core.resume() } }

    package func desktops(then: @escaping Then) { EventLoop.post { [core] in core.describeDesktops(then) } }

    /// Sends `command` to the desktop of that id, or to the only one.
    package func invoke(
        _ command: Command, desktop: String?, timeout: Int64,
        then: @escaping @Sendable (Result<Reply, HostError>) -> Void
    ) {
        EventLoop.post { [core] in core.invoke(command, desktop: desktop, timeout: timeout, then) }
    }

    package func load(_ query: InboxQuery, then: @escaping Then) {
        EventLoop.post { [core] in core.load(query, then) }
    }

    package func inbox(then: @escaping Then) { EventLoop.post { [core] in core.describeInbox(then) } }

    /// `nil` = every paired desktop.
    package func refresh(_ desktop: String?, timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.refresh(desktop, timeout: timeout, then) }
    }

    package func change(
        _ request: InboxRequest, desktop: String?, timeout: Int64,
        then: @escaping @Sendable (Result<Reply, HostError>) -> Void
    ) {
        EventLoop.post { [core] in core.changeInbox(request, desktop: desktop, timeout: timeout, then) }
    }

    /// What the desktop has said of its settings last.
    package func settings(of desktop: String?, then: @escaping Then) {
        EventLoop.post { [core] in core.describeSettings(of: desktop, then) }
    }

    /// The commands that wait, as JSON.
    package func queue(then: @escaping Then) { EventLoop.post { [core] in core.listQueue(then) } }

    package func removeQueued(_ id: String, then: @escaping Then) {
        EventLoop.post { [core] in core.removeQueued(RequestID(id), then) }
    }

    /// `nil` = all that have failed.
    package func retryQueued(_ id: String?, then: @escaping Then) {
        EventLoop.post { [core] in core.retryQueued(id.map { RequestID($0) }, then) }
    }

    /// Takes out what has failed and was given before that moment; `nil` = all that has failed.
    package func clearQueue(before moment: Int64?, then: @escaping Then) {
        EventLoop.post { [core] in core.clearQueue(before: moment, then) }
    }

    package func give(_ token: PushToken, for service: PushService, then: @escaping Then) {
        EventLoop.post { [core] in core.give(token, for: service, then) }
    }

    /// `nil` = the tokens of all services.
    package func takeBackToken(of service: PushService?, then: @escaping Then) {
        EventLoop.post { [core] in core.takeBackToken(of: service, then) }
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
