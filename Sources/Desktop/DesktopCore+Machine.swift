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
                for link in allLinks { link.suspend() }
                tellConnection()
            },
            isAwake: { [weak self] in
                guard let self else { return }
                for link in allLinks { link.resume() }
                tellConnection()
            })
    }

    func leaveMachine() {
        machine?.stop()
        machine = nil
    }

    private func networkChanged() {
        for link in allLinks where !link.state.isOnline { link.reconnectNow() }
    }

    /// The typed code's alias goes with them.
    private var allLinks: [RelayConnection] { links.values + [alias?.link].compactMap(\.self) }
}
