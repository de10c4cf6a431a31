import Addresses
package import Transport

/// Fetches what a push names on the web (bellwire.h, "Alerts"), as if an enemy had written the address.
///
/// HTTPS only, also after a redirect; public addresses only, and the address that was checked is the one that is used; no
/// proxy, cookies or login; one body of a limited size in a limited time. At most twelve run at once, eight of them from one
/// host, and 64 wait. Names have limits of their own: a look-up that hangs gives its place to another host's after a second,
/// and only twelve together keep further ones waiting.
@EventLoop
package final class Fetcher {
    package static let maximumRunning = 12
    package static let maximumFromHost = 8
    package static let maximumLookUps = 4
    /// Look-ups, those included that hang. The process has a few more, for relays.
    static let maximumHanging = 12
    /// A look-up that takes longer, in milliseconds, doesn't count as one of ``maximumLookUps`` any more.
    static let quickLookUp: UInt64 = 1_000
    package static let maximumWaiting = 64
    /// Milliseconds for which one waits for its turn, before its own time begins.
    package static let longestWait: UInt64 = 30_000

    typealias LookUp =
        @Sendable @EventLoop (
            String, @escaping @Sendable @EventLoop (Result<[[UInt8]], TransportError>) -> Void
        ) -> Void

    let options: FetchOptions
    let rule: AddressRule
    let library: CurlLibrary
    let lookUp: LookUp
    /// Those that hold a place: also one that is over, while its look-up hangs (it cannot be called off).
    private var running: [Fetch] = []
    private var waiting: [Fetch] = []
    private var rests: HostRests

    package init(_ options: FetchOptions = FetchOptions()) {
        self.options = options
        rests = HostRests(rest: options.rest)
        rule = options.rule
        library = .shared
        lookUp = { NameLookUp.addresses(of: $0, then: $1) }
    }

    init(
        _ options: FetchOptions, library: CurlLibrary = .shared,
        lookUp: @escaping LookUp = { NameLookUp.addresses(of: $0, then: $1) }
    ) {
        self.options = options
        rests = HostRests(rest: options.rest)
        rule = options.rule
        self.library = library
        self.lookUp = lookUp
    }

    /// Fetches what is at the address. `then` comes once, never inside this call, and not after ``Fetch/cancel()`` or
    /// ``close()``. Errors: see ``FetchError/Code``.
    @discardableResult
    package func fetch(
        _ url: String, then: @escaping @EventLoop (Result<Fetched, FetchError>) -> Void
    ) -> Fetch {
        let fetch = Fetch(url, for: self, then: then)
        if isResting(fetch) {
            EventLoop.post { fetch.refuse(.hostResting, "the host did not answer a short while ago") }
        } else if mayRun(fetch) {
            run(fetch)
        } else if waiting.count < Self.maximumWaiting {
            waiting.append(fetch)
            fetch.wait()
        } else {
            EventLoop.post { fetch.refuse(.tooMany, "\(Self.maximumWaiting) downloads are already waiting") }
        }
        return fetch
    }

    private func isResting(_ fetch: Fetch) -> Bool {
        fetch.host.map { rests.isResting($0, now: EventLoop.now) } ?? false
    }

    private func mayRun(_ fetch: Fetch) -> Bool {
        let active = running.filter { !$0.isOver }
        return active.count < Self.maximumRunning
            && active.count { $0.host == fetch.host } < Self.maximumFromHost
            && (!fetch.looksUp || mayLookUp(besides: fetch) && !running.contains { $0.isSlow && $0.host == fetch.host })
    }

    private func run(_ fetch: Fetch) {
        running.append(fetch)
        EventLoop.post { fetch.begin() }
    }

    /// Whether a name may be looked up: first of all, or after a redirect.
    func mayLookUp(besides fetch: Fetch) -> Bool {
        let others = running.filter { $0.looksUp && $0 !== fetch }
        return others.count < Self.maximumHanging && others.count { !$0.isSlow } < Self.maximumLookUps
    }

    /// The host of a fetch that began then has answered, or not in time.
    func ended(_ host: String?, begunAt: UInt64, isTimeout: Bool) {
        guard let host else { return }
        if isTimeout {
            rests.timedOut(host, begunAt: begunAt, now: EventLoop.now)
        } else {
            rests.answered(host, now: EventLoop.now)
        }
    }

    /// Calls everything off.
    package func close() {
        let fetches = waiting + running
        waiting.removeAll()
        for fetch in fetches { fetch.cancel() }
    }

    /// How many run or wait.
    package var count: Int { running.count + waiting.count }

    /// A fetch that is over gives its place to the next.
    func leave(_ fetch: Fetch) {
        waiting.removeAll { $0 === fetch }
        running.removeAll { $0 === fetch }
        runNext()
    }

    /// Runs those that wait and may run now, in their order.
    func runNext() {
        for fetch in waiting where isResting(fetch) || mayRun(fetch) {
            waiting.removeAll { $0 === fetch }
            if isResting(fetch) {
                EventLoop.post { fetch.refuse(.hostResting, "the host did not answer a short while ago") }
            } else {
                run(fetch)
            }
        }
    }
}
