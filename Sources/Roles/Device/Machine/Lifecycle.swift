import Hosting
import SystemServices
import Transport

/// Whether the device is started, suspended or closed, and the machine events that it follows.
@EventLoop
final class Lifecycle {
    enum Action {
        case networkChanged
        case suspend
        case resume
    }

    private(set) var isStarted = false
    private(set) var isSuspended = false
    private(set) var isClosed = false
    private var machine: MachineWatch?
    private let followsSystem: Bool
    private let emit: @EventLoop (Action) -> Void

    init(followsSystem: Bool, emit: @escaping @EventLoop (Action) -> Void) {
        self.followsSystem = followsSystem
        self.emit = emit
    }

    /// Why something of the machine is not followed, for people.
    var notes: [String] { machine?.notes ?? [] }
    /// The system bus, while the machine is followed.
    var bus: Bus? { machine?.bus }

    // Each returns whether anything has changed.

    func start() -> Bool {
        guard !isClosed, !isStarted else { return false }
        isStarted = true
        if followsSystem, machine == nil {
            machine = MachineWatch(
                networkChanged: { [weak self] in self?.emit(.networkChanged) },
                fallsAsleep: { [weak self] in self?.emit(.suspend) },
                isAwake: { [weak self] in self?.emit(.resume) })
        }
        return true
    }

    func stop() -> Bool {
        guard isStarted else { return false }
        isStarted = false
        leaveMachine()
        return true
    }

    func close() {
        isStarted = false
        isClosed = true
        leaveMachine()
    }

    func suspend() -> Bool {
        guard !isSuspended, !isClosed else { return false }
        isSuspended = true
        return true
    }

    func resume() -> Bool {
        guard isSuspended, !isClosed else { return false }
        isSuspended = false
        return true
    }

    private func leaveMachine() {
        machine?.stop()
        machine = nil
    }
}
