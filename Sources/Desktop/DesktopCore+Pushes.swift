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
        guard !isShutDown else { return then(.failure(.closed)) }
        let once = Once(then)
        let timer = LoopTimer {
            let message = "the devices' relays did not say in time who was reached; the notification is kept"
            once.call(.failure(HostError(.timeout, message)))
        }
        timer.start(after: UInt64(clamping: timeout))
        carryOut(.host, notice.method.name, notice.params) { core, outcome in
            timer.stop()
            once.call(core.isShutDown ? .failure(.closed) : outcome.hostResult(of: notice.method))
        }
    }

    func history(_ query: Desktop.HistoryQuery, _ then: @escaping Then) {
        guard !isShutDown else { return then(.failure(.closed)) }
        carryOut(.host, NotificationMethod.getHistory.name, query.params) { core, outcome in
            then(core.isShutDown ? .failure(.closed) : outcome.hostResult(of: .getHistory))
        }
    }
}

/// The first of several outcomes counts.
@EventLoop
private final class Once {
    private var then: Then?

    init(_ then: @escaping Then) { self.then = then }

    func call(_ result: Result<String, HostError>) {
        let then = self.then
        self.then = nil
        then?(result)
    }
}

extension CommandResponse.Outcome {
    /// As `bw_desktop_notify` and `bw_desktop_history` give it.
    fileprivate func hostResult(of method: NotificationMethod) -> Result<String, HostError> {
        switch self {
        case .error(let error):
            let code: HostError.Code = error.code == .internalError ? .store : .notFound
            return .failure(HostError(code, error.message))
        case .result(let result):
            guard method == .sendToMobile else { return .success(result.serialized()) }
            let isDelivered = result["delivered"]?.bool == true
            return .success(
                JSONValue.object([
                    "success": true, "notificationId": result["notificationId"],
                    "deliveredCount": .integer(isDelivered ? 1 : 0), "failedCount": .integer(isDelivered ? 0 : 1),
                    "timestamp": result["timestamp"],
                ]).serialized())
        }
    }
}
