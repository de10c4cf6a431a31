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
    private lazy var deadline = LoopTimer { [weak self] in
        guard let self else { return }
        self.perform(self.machine.deadline())
    }

    init(_ text: String, for fetcher: Fetcher, then: @escaping @EventLoop (Result<Fetched, FetchError>) -> Void) {
        self.text = text
        self.fetcher = fetcher
        self.then = then
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
    package func cancel() {
        then = nil
        leave()
    }

    func wait() { deadline.start(after: Fetcher.longestWait) }

    func begin() {
        guard then != nil, let fetcher else { return }
        deadline.start(after: fetcher.options.timeout)
        perform(machine.begin(text))
    }

    func refuse() {
        perform(machine.fail(FetchError(.tooMany, "\(Fetcher.maximumWaiting) downloads are already waiting")))
    }

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
        isLookingUp = true
        fetcher.lookUp(host) { answer in
            self.isLookingUp = false
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
