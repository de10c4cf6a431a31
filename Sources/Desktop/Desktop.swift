package import Hosting
import JSON
import Notifications
import Pairing
import Store
import Transport

/// The source of truth: keeps the history, answers the methods, shows pairing codes, pushes to its devices.
///
/// This is the side that a host's threads see. Everything goes to the event loop as a message, and comes back through
/// `then` or the host's channel.
package final class Desktop: Role {
    let core: DesktopCore
    private let directory: StateDirectory

    /// What devices ask it to show is an event like others: it is in the history in any case.
    package var pushes: (any PushSource)? { nil }

    /// Opens the state directory, the key and the database. Blocks the caller.
    package static func open(
        _ options: String?, _ channel: HostChannel
    ) throws(HostError) -> (Desktop, threaded: Bool) {
        let options = try DesktopOptions(parsing: options)
        let state = try RoleState.open(options.common, database: "desktop.db", migrations: DesktopCore.migrations)
        let devices: [PairedDevice]
        let unread: Int64
        do throws(StoreError) {
            (devices, unread) = try state.database.run { (connection) throws(StoreError) in
                (try PairedDevices(connection).all(), try History(connection).unreadCount())
            }
        } catch {
            state.close()
            throw HostError(error)
        }
        do throws(TransportError) { try EventLoop.start() } catch {
            state.close()
            throw HostError(error)
        }
        if let path = state.movedAside { channel.problem(movedAside: path) }
        let core = DesktopCore(options: options, state: state, devices: devices, unread: unread, channel: channel)
        return (Desktop(core, state.directory), options.common.isThreaded)
    }

    private init(_ core: DesktopCore, _ directory: StateDirectory) { (self.core, self.directory) = (core, directory) }

    package func start(then: @escaping Then) { EventLoop.post { [core] in core.start(then) } }

    package func stop() { EventLoop.post { [core] in core.stop() } }

    package func state(then: @escaping Then) { EventLoop.post { [core] in core.describe(then) } }

    package func offer(timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.offer(timeout: timeout, then) }
    }

    package func cancelOffer() { EventLoop.post { [core] in core.cancelOffer() } }

    package func confirm(_ accept: Bool, then: @escaping Then) {
        EventLoop.post { [core] in core.confirm(accept, then) }
    }

    package func devices(then: @escaping Then) { EventLoop.post { [core] in core.describeDevices(then) } }

    package func notify(_ notice: Notice, timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.notify(notice, timeout: timeout, then) }
    }

    package func history(_ query: HistoryQuery, then: @escaping Then) {
        EventLoop.post { [core] in core.history(query, then) }
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
