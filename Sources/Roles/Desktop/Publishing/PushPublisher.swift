import Hosting
import JSON
import Notifications
import Transport
import Wire

/// Identifies a call of the program's own that is in progress.
typealias OwnCallID = UInt64

/// A call of the host's own, to be executed.
struct OwnCall: Sendable {
    let id: OwnCallID
    let method: NotificationMethod
    let params: JSONObject
    /// Of a call that may come again: it is carried out once.
    var request: RequestID?
}

/// The program's own calls in progress. Each ends exactly once: with its answer, at its deadline, or when the desktop
/// is closed.
///
/// One timer serves all of them.
@EventLoop
final class PushPublisher {
    private enum Form {
        /// As `bw_desktop_notify` answers.
        case notice(NotificationMethod)
        /// As `bw_desktop_invoke` and `bw_desktop_history` do.
        case result
    }

    private struct Call {
        let form: Form
        let deadline: UInt64
        let then: Then
    }

    private var calls: [OwnCallID: Call] = [:]
    private var lastID: OwnCallID = 0
    private var isClosed = false
    /// When the timer fires; `nil` = it is not set.
    private var timerAt: UInt64?
    private lazy var timer = LoopTimer { [weak self] in self?.deadlineReached() }

    nonisolated init() {}

    // MARK: Events

    /// The call to execute; `nil` = the desktop is closed, and the caller knows.
    func notify(
        _ notice: Desktop.Notice, id: RequestID? = nil, timeout: CallTimeout, _ then: @escaping Then
    ) -> OwnCall? {
        begin(notice.method, notice.params, id, .notice(notice.method), until: deadline(timeout), then)
    }

    func invoke(
        _ method: NotificationMethod, _ params: JSONObject, id: RequestID? = nil, timeout: CallTimeout,
        _ then: @escaping Then
    ) -> OwnCall? {
        begin(method, params, id, .result, until: deadline(timeout), then)
    }

    /// The store answers it, so it needs no deadline.
    func history(_ query: Desktop.HistoryQuery, _ then: @escaping Then) -> OwnCall? {
        begin(.getHistory, query.params, nil, .result, until: .max, then)
    }

    func answered(_ id: OwnCallID, _ outcome: CommandResponse.Outcome) {
        guard let call = calls.removeValue(forKey: id) else { return }
        switch call.form {
        case .notice(let method): call.then(outcome.noticeResult(of: method))
        case .result: call.then(outcome.ownResult)
        }
    }

    /// The desktop is closed for good.
    func close() {
        isClosed = true
        let closing = calls
        calls = [:]
        timer.stop()
        for call in closing.values { call.then(.failure(.closed)) }
    }

    // MARK: Deadlines

    private func deadline(_ timeout: CallTimeout) -> UInt64 { EventLoop.now &+ timeout.milliseconds }

    private func begin(
        _ method: NotificationMethod, _ params: JSONObject, _ id: RequestID?, _ form: Form, until deadline: UInt64,
        _ then: @escaping Then
    ) -> OwnCall? {
        guard !isClosed else {
            then(.failure(.closed))
            return nil
        }
        lastID &+= 1
        calls[lastID] = Call(form: form, deadline: deadline, then: then)
        arm(by: deadline)
        return OwnCall(id: lastID, method: method, params: params, request: id)
    }

    /// A timer that fires too early finds nothing to do, and is restarted.
    private func arm(by deadline: UInt64) {
        guard deadline < timerAt ?? .max else { return }
        timerAt = deadline
        timer.start(at: deadline)
    }

    private func deadlineReached() {
        let now = EventLoop.now
        timerAt = nil
        for (id, call) in calls where call.deadline <= now {
            calls[id] = nil
            let message = "the relays did not confirm in time which devices were reached; the notification is stored"
            call.then(.failure(HostError(.timeout, message)))
        }
        if let next = calls.values.lazy.map(\.deadline).min() { arm(by: next) }
    }
}

extension CommandResponse.Outcome {
    fileprivate var ownResult: Result<HostReply, HostError> {
        switch self {
        case .result(let result): .success(HostReply(result))
        case .error(let error):
            .failure(
                HostError(
                    error.code == .internalError ? .store : .notFound, error.message, detail: error.data?.object ?? [:])
            )
        }
    }

    fileprivate func noticeResult(of method: NotificationMethod) -> Result<HostReply, HostError> {
        guard method == .sendToMobile, case .result(let result) = self, result["scheduledAt"] == nil else {
            return ownResult
        }
        let isDelivered = result["delivered"]?.bool == true
        return .success(
            HostReply([
                "success": true, "notificationId": result["notificationId"],
                "deliveredCount": .integer(isDelivered ? 1 : 0), "failedCount": .integer(isDelivered ? 0 : 1),
                "timestamp": result["timestamp"],
            ]))
    }
}
