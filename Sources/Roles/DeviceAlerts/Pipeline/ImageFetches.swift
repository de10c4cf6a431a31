import Alerts
import COnDemand
import Glibc
import HTTPClient
import Transport

/// Fetches the images of alerts, and decodes them before they count, as far as the libraries for that are there.
@EventLoop
final class ImageFetches {
    private let options: FetchOptions
    private var fetcher: Fetcher?
    /// Also those whose image is there, until it has been decoded.
    private var fetches: [AlertRun.Ticket: Fetch] = [:]
    /// Images wait for one another, so that they share the memory to be decoded in.
    private var checks: [@EventLoop () -> Void] = []
    private var isChecking = false

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
            guard let self else { return }
            guard case .success(let fetched) = result else {
                fetches[ticket] = nil
                return then(result)
            }
            checks.append { [weak self] in self?.check(ticket, fetched, then: then) }
            checkNext()
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

    // MARK: Decoding

    private func checkNext() {
        if !isChecking, !checks.isEmpty { checks.removeFirst()() }
    }

    /// On a thread of its own, which ends with it.
    private func check(
        _ ticket: AlertRun.Ticket, _ fetched: Fetched, then: @escaping @EventLoop (Result<Fetched, FetchError>) -> Void
    ) {
        guard fetches[ticket] != nil else { return checkNext() }
        isChecking = true
        let ended: @Sendable (Bool) -> Void = { isWhole in
            EventLoop.post {
                self.isChecking = false
                if self.fetches.removeValue(forKey: ticket) != nil {
                    let error = FetchError(FetchError.Code("not_an_image"), "the image cannot be decoded")
                    then(isWhole ? .success(fetched) : .failure(error))
                }
                self.checkNext()
            }
        }
        let result = startThread(named: "bellwire-image") { ended(Self.isWhole(fetched.bytes)) }
        // Without a thread it is as without the libraries.
        if result != 0 { ended(true) }
    }

    nonisolated static func isWhole(_ bytes: [UInt8]) -> Bool {
        // What is refused by its header alone has a name of its own for that.
        guard let format = ImageFormat.sniff(bytes), format.excess == nil else { return true }
        let limit = format.kind == .gif ? ImageFormat.maximumFramePixels : ImageFormat.maximumPixels
        switch bw_image_check(bytes, bytes.count, UInt64(limit)) {
        case 0: return true
        case -ENOENT: return format.kind != .gif || format.frames > 0
        default: return false
        }
    }
}
