import Addresses
package import Transport

/// One fetch, under way or waiting for its turn.
@EventLoop
package final class Fetch {
    private let text: String
    private weak var fetcher: Fetcher?
    private var machine: FetchStateMachine
    private var then: ((Result<Fetched, FetchError>) -> Void)?
    private var transfer: Transfer?
    private var isLookingUp = false
    /// Where it goes first, with the port; `nil` = nowhere.
    let host: String?
    /// Takes the place of a look-up: it will look up a name, or is doing so. Such a one also when it is over.
    private(set) var looksUp: Bool
    /// Its look-up takes longer than ``Fetcher/quickLookUp``, and perhaps hangs.
    private(set) var isSlow = false
    private lazy var slowness = LoopTimer { [weak self] in
        self?.isSlow = true
        self?.fetcher?.runNext()
    }
    private var begunAt: UInt64?
    private lazy var deadline = LoopTimer { [weak self] in
        guard let self else { return }
        self.perform(self.machine.deadline())
    }

    init(_ text: String, for fetcher: Fetcher, then: @escaping @EventLoop (Result<Fetched, FetchError>) -> Void) {
        self.text = text
        self.fetcher = fetcher
        self.then = then
        let url = try? HTTPSURL(text)
        host = url.map { "\($0.host):\($0.port)" }
        looksUp = url.map { $0.address == nil } ?? false
        machine = FetchStateMachine(rule: fetcher.rule)
    }

    deinit {
        guard let transfer else { return }
        if EventLoop.isCurrent {
            EventLoop.assumeIsolated { transfer.end() }
        } else {
            EventLoop.post { transfer.end() }
        }
    }

    /// Calls it off: `then` does not come any more.
    ///
    /// - Parameter isOverdue: because it took too long. If it has had half of its time, that is its host's fault.
    package func cancel(isOverdue: Bool = false) {
        if isOverdue, !isOver, let begunAt, let fetcher, EventLoop.now &- begunAt >= fetcher.options.timeout / 2 {
            fetcher.ended(host, begunAt: begunAt, isTimeout: true)
        }
        then = nil
        leave()
    }

    var isOver: Bool { then == nil }

    func wait() { deadline.start(after: Fetcher.longestWait) }

    func begin() {
        guard then != nil, let fetcher else { return }
        deadline.start(after: fetcher.options.timeout)
        begunAt = EventLoop.now
        perform(machine.begin(text))
    }

    func refuse(_ code: FetchError.Code, _ message: String) { perform(machine.fail(FetchError(code, message))) }

    private func perform(_ action: FetchStateMachine.Action) {
        guard then != nil else { return }
        switch action {
        case .none: break
        case .lookUp(let host): lookUp(host)
        case .transfer(let url, let pins): start(url, pins)
        case .finish(let result): finish(result)
        }
    }

    private func lookUp(_ host: String) {
        guard let fetcher else { return }
        guard fetcher.mayLookUp(besides: self) else {
            return perform(machine.fail(FetchError(.tooMany, "too many names are being looked up")))
        }
        (looksUp, isLookingUp) = (true, true)
        slowness.start(after: Fetcher.quickLookUp)
        fetcher.lookUp(host) { answer in
            self.slowness.stop()
            (self.looksUp, self.isLookingUp, self.isSlow) = (false, false, false)
            self.fetcher?.runNext()
            guard self.then != nil else { return self.leave() }
            let addresses = try? answer.get()
            self.perform(self.machine.lookedUp(addresses?.compactMap { IPAddress(bytes: $0) }))
        }
    }

    private func start(_ url: HTTPSURL, _ pins: [IPAddress]) {
        guard let fetcher else { return }
        switch fetcher.library.functions() {
        case .failure(let error): perform(machine.fail(error))
        case .success(let functions):
            transfer = Transfer(
                url, pins: pins, options: fetcher.options, rule: fetcher.rule, functions: functions
            ) { [weak self] outcome in
                guard let self else { return }
                self.transfer = nil
                self.perform(self.machine.ended(outcome))
            }
        }
    }

    private func finish(_ result: Result<Fetched, FetchError>) {
        let then = then
        self.then = nil
        if let begunAt {
            switch result {
            case .success: fetcher?.ended(host, begunAt: begunAt, isTimeout: false)
            case .failure(let error) where error.code == .timeout:
                fetcher?.ended(host, begunAt: begunAt, isTimeout: true)
            case .failure: break
            }
        }
        leave()
        then?(result)
    }

    private func leave() {
        deadline.stop()
        transfer?.end()
        transfer = nil
        if !isLookingUp { fetcher?.leave(self) }
    }
}
