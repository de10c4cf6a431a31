import History
import Hosting
import JSON
import Notifications
import Pairing
import Signalling
import Transport
import Wire

// Whom a push reaches, and who waits to hear of it.
extension DesktopCore {
    /// Where it was heard of last; a device that was not heard of since we came may be at any of our relays. Devices
    /// tell doubled pushes apart by their ids.
    func routes(to peer: PeerID) -> [String] {
        if let url = heardOver[peer], links[url]?.state.isOnline == true { return [url] }
        return links.keys.filter { links[$0]?.state.isOnline == true }
    }

    func finish(_ runs: [PushRuns.Run]) {
        for run in runs { run.then(run.delivered) }
    }

    // MARK: The host's own

    func notify(_ notice: Desktop.Notice, timeout: Int64, _ then: @escaping Then) {
        carryOutOwn(notice.method, notice.params, timeout: timeout) {
            then($0.flatMap { $0.noticeResult(of: notice.method) })
        }
    }

    func invoke(_ command: Desktop.OwnCommand, timeout: Int64, _ then: @escaping Then) {
        carryOutOwn(command.method, command.params, timeout: timeout) { then($0.flatMap(\.ownResult)) }
    }

    private func carryOutOwn(
        _ method: NotificationMethod, _ params: JSONObject, timeout: Int64,
        then: @escaping @EventLoop (Result<CommandResponse.Outcome, HostError>) -> Void
    ) {
        guard !isShutDown else { return then(.failure(.closed)) }
        let once = Once(then)
        let timer = LoopTimer {
            let message = "the devices' relays did not say in time who was reached; the notification is kept"
            once.call(.failure(HostError(.timeout, message)))
        }
        timer.start(after: UInt64(clamping: timeout))
        carryOut(.host, method.name, params) { core, outcome in
            timer.stop()
            once.call(core.isShutDown ? .failure(.closed) : .success(outcome))
        }
    }

    func history(_ query: Desktop.HistoryQuery, _ then: @escaping Then) {
        guard !isShutDown else { return then(.failure(.closed)) }
        carryOut(.host, NotificationMethod.getHistory.name, query.params) { core, outcome in
            then(core.isShutDown ? .failure(.closed) : outcome.ownResult)
        }
    }
}

/// The first of several outcomes counts.
@EventLoop
private final class Once {
    private var then: (@EventLoop (Result<CommandResponse.Outcome, HostError>) -> Void)?

    init(_ then: @escaping @EventLoop (Result<CommandResponse.Outcome, HostError>) -> Void) { self.then = then }

    func call(_ result: Result<CommandResponse.Outcome, HostError>) {
        let then = self.then
        self.then = nil
        then?(result)
    }
}

extension CommandResponse.Outcome {
    /// As `bw_desktop_invoke` and `bw_desktop_history` give it.
    fileprivate var ownResult: Result<String, HostError> {
        switch self {
        case .result(let result): .success(result.serialized())
        case .error(let error): .failure(HostError(error.code == .internalError ? .store : .notFound, error.message))
        }
    }

    /// As `bw_desktop_notify` gives it.
    fileprivate func noticeResult(of method: NotificationMethod) -> Result<String, HostError> {
        guard method == .sendToMobile, case .result(let result) = self else { return ownResult }
        let isDelivered = result["delivered"]?.bool == true
        return .success(
            JSONValue.object([
                "success": true, "notificationId": result["notificationId"],
                "deliveredCount": .integer(isDelivered ? 1 : 0), "failedCount": .integer(isDelivered ? 0 : 1),
                "timestamp": result["timestamp"],
            ]).serialized())
    }
}
