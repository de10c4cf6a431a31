package import Calendar
package import JSON
import Notifications
package import Store
package import Wire

/// The desktop's side of the skill: one command in, an answer and effects out. `MethodHandler+Methods.swift` has what each
/// method does.
///
/// Runs as one piece of work on the store, so what it changes is there once the answer leaves.
package struct MethodHandler {
    /// A paired device, with its id on the wire and the id that it chose itself.
    package struct PairedDevice: Sendable, Equatable {
        package let peer: PeerID
        package let deviceID: String?

        package init(peer: PeerID, deviceID: String? = nil) {
            self.peer = peer
            self.deviceID = deviceID
        }
    }

    /// Who asks.
    package enum Caller: Sendable, Equatable {
        case device(PeerID, isBellwire: Bool)
        /// The desktop's own user or program, who may do everything.
        case host
    }

    /// What a command may need of the world.
    package struct Context: Sendable {
        package let now: EpochMilliseconds
        /// By which the history lets go what is too old.
        package var pruning: EpochMilliseconds
        /// For the notification that the command may make. Fresh for each command.
        package let newID: NotificationID
        package let devices: [PairedDevice]
        /// For quiet hours.
        package let clock: WallClock

        package init(
            now: EpochMilliseconds, newID: NotificationID, devices: [PairedDevice], clock: WallClock = .system
        ) {
            self.now = now
            pruning = now
            self.newID = newID
            self.devices = devices
            self.clock = clock
        }
    }

    let work: HistoryWork
    let history: History
    let settings: SettingsTable
    private let permissions: Permissions
    let caller: Caller
    let context: Context
    private let finishes: Bool

    /// For one of several commands in a piece of work. Its owner calls ``HistoryWork/finish()`` after the last one.
    package init(caller: Caller, context: Context, in work: HistoryWork) {
        self.init(caller: caller, context: context, in: work, finishes: false)
    }

    private init(caller: Caller, context: Context, in work: HistoryWork, finishes: Bool) {
        self.work = work
        self.finishes = finishes
        history = History(work.connection)
        settings = SettingsTable(work.connection)
        permissions = Permissions(work.connection)
        self.caller = caller
        self.context = context
    }

    /// For a command that is a piece of work of its own: ``handle(_:_:)`` leaves nothing to do.
    package init(caller: Caller, context: Context, on connection: Connection) {
        self.init(caller: caller, context: context, in: HistoryWork(connection), finishes: true)
    }

    /// Carries a command out, or answers why not. Throws only what the store throws; nothing has changed then.
    package func handle(_ method: String, _ params: JSONObject) throws(StoreError) -> Handled {
        let handled = try carryOut(method, params)
        if finishes { try work.finish() }
        return handled
    }

    private func carryOut(_ method: String, _ params: JSONObject) throws(StoreError) -> Handled {
        guard let method = NotificationMethod(name: method) else {
            return refuse(RemoteError(.methodNotFound, "this desktop has no such method"))
        }
        if case .device(let peer, _) = caller {
            switch try permissions.check(method.name, by: peer) {
            case .allowed: break
            case .refused(let error): return refuse(error)
            case .unknown: return refuse(RemoteError(.methodNotFound, "this desktop has no such method"))
            }
        }
        let execution: Execution
        do throws(NotificationsError) { execution = try self.execution(of: method, params) } catch {
            return refuse(error)
        }
        // Everything but a push sees, and changes, what the pushes before it have stored.
        if !method.row.isPush { try work.finish() }
        return try execution()
    }

    var isBellwire: Bool {
        switch caller {
        case .device(_, let isBellwire): isBellwire
        case .host: true
        }
    }

    func answer(
        _ result: JSONObject, effects: [Handled.Effect] = [], announcing events: [StateEvent] = [], row: Int64? = nil
    ) -> Handled {
        let others: [PeerID] =
            switch caller {
            case .device(let peer, _): context.devices.map(\.peer).filter { $0 != peer }
            case .host: context.devices.map(\.peer)
            }
        return Handled(
            .ready(.result(.object(result))), effects: effects,
            announcements: events.map { Handled.Announcement(event: $0, devices: others) }, row: row)
    }

    func refuse(_ error: NotificationsError) -> Handled { refuse(RemoteError(.invalidParams, error.message)) }

    func refuse(_ error: RemoteError) -> Handled { Handled(.ready(.error(error))) }
}
