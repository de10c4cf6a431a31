import HTTPClient
import Transport

/// Fetches the images of alerts.
@EventLoop
final class ImageFetches {
    private let options: FetchOptions
    private var fetcher: Fetcher?
    private var fetches: [AlertRun.Ticket: Fetch] = [:]

    /// How long a host that did not answer in time is not asked again, in milliseconds.
    private static let hostRest: UInt64 = 60_000

    init(_ configuration: AlertConfiguration) {
        var options = FetchOptions()
        options.caFile = configuration.caFile
        options.timeout = configuration.options.images.timeout
        options.rest = Self.hostRest
        options.allowed = configuration.options.images.allowed
        self.options = options
    }

    func start(
        _ ticket: AlertRun.Ticket, _ url: String, then: @escaping @EventLoop (Result<Fetched, FetchError>) -> Void
    ) {
        let fetcher = fetcher ?? Fetcher(options)
        self.fetcher = fetcher
        fetches[ticket] = fetcher.fetch(url) { [weak self] result in
            self?.fetches[ticket] = nil
            then(result)
        }
    }

    /// `then` is not called any more.
    func cancel(_ ticket: AlertRun.Ticket, isOverdue: Bool) {
        fetches.removeValue(forKey: ticket)?.cancel(isOverdue: isOverdue)
    }

    func close() {
        fetches = [:]
        fetcher?.close()
    }
}
