import Hosting
import JSON
import Pairing
import Signalling
import Store
import Transport
import Wire

// Push tokens: each sealed desktop hears them once every start, and when they change; and what was shown of its pushes
// (protocol.md 4.8).
extension DeviceCore {
    // MARK: The host

    func give(_ token: PushToken, for service: PushService, _ then: @escaping Then) {
        store { (connection) throws(StoreError) in
            try PushTokenTable(connection).give(service)
        } then: { core, result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success(false):
                let limit = PushTokensStateMachine.serviceLimit
                then(
                    .failure(
                        HostError(.limit, "there are tokens of \(limit) services; take one back first")))
            case .success(true):
                core.tokens.gave(token, for: service)
                core.sayTokens()
                then(.success("{}"))
            }
        }
    }

    /// `nil` = of all services.
    func takeBackToken(of service: PushService?, _ then: @escaping Then) {
        store { (connection) throws(StoreError) in
            try PushTokenTable(connection).takeBack(service)
        } then: { core, result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success((let services, let removals)):
                core.tokens.tookBack(removals, of: services)
                core.sayTokens()
                then(.success("{}"))
            }
        }
    }

    // MARK: The desktops

    private func sayTokens() { for desktop in desktops { sayTokens(to: desktop) } }

    /// We are registered there, and have said hello.
    func sayTokens(over url: String) {
        for desktop in desktops where routes(of: desktop).contains(url) { sayTokens(to: desktop) }
    }

    /// Says what it has not heard, over every connection: which of them it hears is not known.
    func sayTokens(to desktop: PairedDesktop) {
        guard isStarted, desktop.isSecure, !absent.contains(desktop.id) else { return }
        let due = tokens.due(for: desktop.id)
        guard !due.isEmpty else { return }
        for statement in due {
            let payload = statement.json(deviceID: deviceID)
            let urls = routes(of: desktop).filter { url in
                links[url].map { send(payload, to: desktop, over: $0).isWritten } ?? false
            }
            tokens.wrote(statement, to: desktop.id, over: urls, now: EventLoop.now)
        }
        armTokenTimer()
    }

    /// A relay has nobody of that id.
    func tokensUnheard(_ peer: PeerID, over url: String) {
        if let desktop = desktop(peer) { tokens.wasCalledAbsent(desktop.id, over: url) }
    }

    private func armTokenTimer() {
        guard let deadline = tokens.nextDeadline else { return }
        let timer = tokenTimer ?? LoopTimer { [weak self] in self?.settleTokens() }
        tokenTimer = timer
        timer.start(at: deadline)
    }

    private func settleTokens() {
        tokenTimer = nil
        for removal in tokens.settle(now: EventLoop.now) {
            store { (connection) throws(StoreError) in
                try PushTokenTable(connection).forget(removal)
            } then: { core, result in
                // One that the store did not forget is said again in the next run.
                if case .success = result { core.tokens.forgot(removal) }
            }
        }
        armTokenTimer()
    }

    // MARK: Receipts

    /// Tells the desktop whether its push was shown. Best effort: nothing waits for a desktop that is not there.
    func sendReceipt(id: NotificationID, presented: Bool, to desktop: PeerID) {
        guard isStarted, let desktop = desktops.first(where: { $0.id == desktop }), desktop.isSecure,
            !absent.contains(desktop.id), let link = bestLink(to: desktop)
        else { return }
        _ = send(PushReceipt(id: id, isPresented: presented, at: .now).json, to: desktop, over: link)
    }
}
