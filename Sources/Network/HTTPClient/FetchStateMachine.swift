import Addresses

/// One fetch: which hosts are asked, which addresses are connected to, and how it ends.
///
/// A redirect is a new address like the first, with all that is checked of it. Neither the name service nor a server
/// decides anything here: they answer, and this judges.
struct FetchStateMachine {
    enum Action: Equatable {
        /// Look the host's addresses up, then ``lookedUp(_:)``.
        case lookUp(host: String)
        /// Get it from these addresses and no other, then ``ended(_:)``. `pins` = the name leads there.
        case transfer(HTTPSURL, pins: [IPAddress])
        case finish(Result<Fetched, FetchError>)
        case none
    }

    /// How a transfer ended.
    enum Outcome: Equatable {
        case body([UInt8], contentType: String?)
        /// The place that the server names, as a whole address; `nil` when it names none that can be read.
        case redirect(to: String?)
        case failed(FetchError)
    }

    /// Redirects of one fetch.
    static let maximumRedirects = 5

    private enum State {
        case idle
        case lookingUp(HTTPSURL)
        case transferring(HTTPSURL)
        case ended
    }

    private let rule: AddressRule
    private var state = State.idle
    private var redirects = 0

    init(rule: AddressRule) { self.rule = rule }

    mutating func begin(_ text: String) -> Action {
        guard case .idle = state else { preconditionFailure("a fetch can start only once") }
        do throws(HTTPSURL.Problem) { return goTo(try HTTPSURL(text)) } catch {
            switch error {
            case .notHTTPS: return fail(.notHTTPS, "the URL does not begin with https://")
            case .malformed: return fail(.badURL, "the URL is invalid or ambiguous")
            }
        }
    }

    /// The name service's answer; `nil` = it has none.
    mutating func lookedUp(_ addresses: [IPAddress]?) -> Action {
        guard case .lookingUp(let url) = state else { return .none }
        guard let addresses, !addresses.isEmpty else {
            return fail(.resolveFailed, "the host name has no address")
        }
        // A name may lead to several places: those that may not be connected to are not there for us.
        let pins = addresses.filter(rule.permits)
        guard !pins.isEmpty else { return refuse() }
        state = .transferring(url)
        return .transfer(url, pins: pins)
    }

    mutating func ended(_ outcome: Outcome) -> Action {
        guard case .transferring(let url) = state else { return .none }
        switch outcome {
        case .body(let bytes, let contentType):
            state = .ended
            return .finish(.success(Fetched(bytes: bytes, contentType: contentType, url: url.text)))
        case .failed(let error):
            state = .ended
            return .finish(.failure(error))
        case .redirect(let place):
            guard redirects < Self.maximumRedirects else {
                return fail(.redirectRefused, "more than \(Self.maximumRedirects) redirects")
            }
            guard let next = place.flatMap({ try? HTTPSURL($0) }) else {
                return fail(.redirectRefused, "a redirect to a URL that is not https://")
            }
            redirects += 1
            return goTo(next)
        }
    }

    /// Its time is over.
    mutating func deadline() -> Action {
        switch state {
        case .idle, .lookingUp, .transferring: fail(.timeout, "the download timed out")
        case .ended: .none
        }
    }

    /// Something beside the protocol went wrong.
    mutating func fail(_ error: FetchError) -> Action {
        switch state {
        case .idle, .lookingUp, .transferring: break
        case .ended: return .none
        }
        state = .ended
        return .finish(.failure(error))
    }

    private mutating func goTo(_ url: HTTPSURL) -> Action {
        guard let address = url.address else {
            state = .lookingUp(url)
            return .lookUp(host: url.host)
        }
        guard rule.permits(address) else { return refuse() }
        state = .transferring(url)
        return .transfer(url, pins: [])
    }

    private mutating func refuse() -> Action {
        fail(.refusedAddress, "the host has no allowed address")
    }

    private mutating func fail(_ code: FetchError.Code, _ message: String) -> Action {
        fail(FetchError(code, message))
    }
}
