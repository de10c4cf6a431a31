import Addresses
package import Transport

/// Fetches what a push names on the web (bellwire.h, "Alerts"), as if an enemy had written the address.
///
/// HTTPS only, also after a redirect; public addresses only, and the address that was checked is the one that is used; no
/// proxy, cookies or login; one body of a limited size in a limited time. At most four run at once and 64 wait.
@EventLoop
package final class Fetcher {
    package static let maximumRunning = 4
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

    package init(_ options: FetchOptions = FetchOptions()) {
        self.options = options
        rule = options.rule
        library = .shared
        lookUp = { NameLookUp.addresses(of: $0, then: $1) }
    }

    init(
        _ options: FetchOptions, library: CurlLibrary = .shared,
        lookUp: @escaping LookUp = { NameLookUp.addresses(of: $0, then: $1) }
    ) {
        self.options = options
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
        if running.count < Self.maximumRunning {
            running.append(fetch)
            EventLoop.post { fetch.begin() }
        } else if waiting.count < Self.maximumWaiting {
            waiting.append(fetch)
            fetch.wait()
        } else {
            EventLoop.post { fetch.refuse() }
        }
        return fetch
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
        guard let index = running.firstIndex(where: { $0 === fetch }) else { return }
        running.remove(at: index)
        guard !waiting.isEmpty else { return }
        let next = waiting.removeFirst()
        running.append(next)
        EventLoop.post { next.begin() }
    }
}
