package import SystemServices
package import Transport

/// The machine events that a role observes while it is started: its network and its sleep.
///
/// A missing bus or logind is a note, not an error.
@EventLoop
package final class MachineWatch {
    /// The system bus, for whatever else the role asks of it.
    package let bus = Bus(.system(), takesDescriptors: true)
    private let network: NetworkMonitor
    private let sleep: SleepMonitor

    /// - Parameters:
    ///   - networkChanged: a link, an address or a route has come or gone.
    ///   - fallsAsleep: close what is open; the machine waits for the end of this call.
    ///   - isAwake: it is awake again, or did not fall asleep.
    package init(
        networkChanged: @escaping @EventLoop () -> Void, fallsAsleep: @escaping @EventLoop () -> Void,
        isAwake: @escaping @EventLoop () -> Void
    ) {
        network = NetworkMonitor(networkChanged)
        sleep = SleepMonitor(on: bus) { event in
            switch event {
            case .goesToSleep(let done):
                fallsAsleep()
                done()
            case .isAwake: isAwake()
            case .note: break
            }
        }
        bus.open()
        sleep.start()
    }

    /// Why something is not followed, for people.
    package var notes: [String] { [network.note, sleep.note].compactMap { $0 } }

    package func stop() {
        sleep.stop()
        network.stop()
        bus.close()
    }
}
