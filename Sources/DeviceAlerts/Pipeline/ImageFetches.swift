import HTTPClient
import Transport

/// Fetches the images of alerts.
@EventLoop
final class ImageFetches {
    private let options: FetchOptions
    private var fetcher: Fetcher?
    private var fetches: [AlertRun.Ticket: Fetch] = [:]

    init(_ configuration: AlertConfiguration) {
        var options = FetchOptions()
        options.caFile = configuration.caFile
        options.timeout = configuration.options.images.timeout
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
    func cancel(_ ticket: AlertRun.Ticket) { fetches.removeValue(forKey: ticket)?.cancel() }

    func close() {
        fetches = [:]
        fetcher?.close()
    }
}
