import Hosting
import Signalling
import Transport

// A desktop goes to sleep and wakes with its machine, and follows its network.
extension DesktopCore {
    func followMachine() {
        guard options.common.followsSystem, machine == nil else { return }
        machine = MachineWatch(
            networkChanged: { [weak self] in self?.networkChanged() },
            fallsAsleep: { [weak self] in
                guard let self else { return }
                for link in links.values { link.suspend() }
                tellConnection()
            },
            isAwake: { [weak self] in
                guard let self else { return }
                for link in links.values { link.resume() }
                tellConnection()
            })
    }

    func leaveMachine() {
        machine?.stop()
        machine = nil
    }

    private func networkChanged() {
        for link in links.values where !link.state.isOnline { link.reconnectNow() }
    }
}
