import Hosting
import JSON
import Pairing
import Signalling
import Surroundings
import Transport

/// What of the machine the device follows while it is started: its network, its sleep, the relays nearby.
@EventLoop
final class DeviceSurroundings {
    /// So long relays nearby are waited for when no other one is known, in milliseconds.
    static let browseTime: UInt64 = 3_000

    let bus = Bus(.system(), takesDescriptors: true)
    private(set) var network: NetworkMonitor?
    private(set) var sleep: SleepMonitor?
    private(set) var browser: RelayBrowser?
    private var patience: LoopTimer?
    private var seekers: [@EventLoop (DiscoveredRelay?) -> Void] = []

    init(
        networkChanged: @escaping @EventLoop () -> Void, slept: @escaping @EventLoop (SleepMonitor.Event) -> Void
    ) {
        network = NetworkMonitor(networkChanged)
        sleep = SleepMonitor(on: bus, slept)
        bus.open()
        sleep?.start()
    }

    /// A relay nearby: the first that is found, `nil` when none was in time. Only a hint: it says nothing about trust.
    func findRelay(_ then: @escaping @EventLoop (DiscoveredRelay?) -> Void) {
        if let relay = browser?.relays.first { return then(relay) }
        seekers.append(then)
        guard browser == nil else { return }
        let browser = RelayBrowser(on: bus) { [weak self] event in
            switch event {
            case .found(let relay): self?.answer(relay)
            // Without Avahi nothing will come.
            case .note(.some): self?.answer(nil)
            case .lost, .note(nil): break
            }
        }
        self.browser = browser
        let patience = LoopTimer { [weak self] in self?.answer(nil) }
        patience.start(after: Self.browseTime)
        self.patience = patience
        browser.start()
    }

    private func answer(_ relay: DiscoveredRelay?) {
        patience?.stop()
        patience = nil
        let served = seekers
        seekers = []
        browser?.stop()
        browser = nil
        for seeker in served { seeker(relay) }
    }

    /// Why something is not followed, for people.
    var notes: [String] { [network?.note, sleep?.note].compactMap { $0 } }

    func stop() {
        answer(nil)
        sleep?.stop()
        sleep = nil
        network?.stop()
        network = nil
        bus.close()
    }
}

extension DeviceCore {
    func followSurroundings() {
        guard options.common.followsSystem, surroundings == nil else { return }
        surroundings = DeviceSurroundings(
            networkChanged: { [weak self] in self?.networkChanged() },
            slept: { [weak self] event in
                switch event {
                case .goesToSleep(let done):
                    self?.suspend()
                    done()
                case .isAwake: self?.resume()
                case .note: break
                }
            })
    }

    func leaveSurroundings() {
        surroundings?.stop()
        surroundings = nil
    }

    /// Whatever is not up is tried at once: it may be reachable now. What is up finds out by its pings.
    private func networkChanged() {
        for link in links.values where !link.state.isOnline { link.reconnectNow() }
    }
}
