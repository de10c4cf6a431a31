import History
import Signalling
import Store
import Transport
import Wire

/// Pushes what was scheduled when its time has come: carries out the actions of ``ScheduleStateMachine``.
@EventLoop
final class PushSchedule {
    /// Pushes that are executed together.
    private nonisolated static let batch: Int64 = 64

    private let database: Database
    private let host: HostReports
    private let execute: @EventLoop (ScheduledPush) -> Void
    private var machine = ScheduleStateMachine()
    private lazy var timer = WallClockTimer { [weak self] in self?.changed() }

    /// - Parameter execute: its time has come. ``executed(hasFailed:)`` is to be called once for each.
    nonisolated init(
        _ database: Database, _ host: HostReports, execute: @escaping @EventLoop (ScheduledPush) -> Void
    ) {
        (self.database, self.host, self.execute) = (database, host, execute)
    }

    func start() { perform(machine.start()) }

    func stop() {
        machine.stop()
        timer.stop()
    }

    /// A push was scheduled.
    func changed() { perform(machine.changed()) }

    func executed(hasFailed: Bool) { perform(machine.executed(hasFailed: hasFailed, now: .now)) }

    private func perform(_ action: ScheduleStateMachine.Action) {
        switch action {
        case .none: break
        case .arm(let moment?): timer.start(at: moment)
        case .arm(nil): timer.stop()
        case .look: look()
        }
    }

    private func look() {
        let (now, look) = (EpochMilliseconds.now, machine.look)
        database.perform { (connection) throws(StoreError) in
            try ScheduleTable(connection).due(at: now, limit: Self.batch)
        } then: { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let (pushes, next)):
                perform(machine.found(pushes.count, next: next, in: look))
                for push in pushes { execute(push) }
            case .failure(let error):
                host.storeFailed("could not read the scheduled notifications", error)
                perform(machine.failed(in: look, now: .now))
            }
        }
    }
}
