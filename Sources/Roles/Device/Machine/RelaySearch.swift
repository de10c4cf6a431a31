import SystemServices
import Transport

/// Looks for a relay on the local network, for a device that knows none.
@EventLoop
final class RelaySearch {
    /// How long to search, in milliseconds.
    static let time: UInt64 = 3_000

    private let bus: Bus
    private var browser: RelayBrowser?
    private var patience: LoopTimer?
    private var seekers: [@EventLoop (DiscoveredRelay?) -> Void] = []

    init(on bus: Bus) { self.bus = bus }

    /// The first relay found, or `nil` if none was found in time. Only a hint: being found does not make a relay
    /// trustworthy.
    func find(_ then: @escaping @EventLoop (DiscoveredRelay?) -> Void) {
        seekers.append(then)
        guard browser == nil else { return }
        let browser = RelayBrowser(on: bus) { [weak self] event in
            switch event {
            case .found(let relay): self?.end(relay)
            // Without Avahi nothing will come.
            case .note(.some): self?.end(nil)
            case .lost, .note(nil): break
            }
        }
        self.browser = browser
        let patience = LoopTimer { [weak self] in self?.end(nil) }
        patience.start(after: Self.time)
        self.patience = patience
        browser.start()
    }

    /// The network has changed: another relay may be available now.
    func refresh() { browser?.refresh() }

    func end(_ relay: DiscoveredRelay?) {
        patience?.stop()
        patience = nil
        browser?.stop()
        browser = nil
        let served = seekers
        seekers = []
        for seeker in served { seeker(relay) }
    }
}
