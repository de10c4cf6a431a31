import Alerts
import Hosting
import JSON
import Transport
import Wire

/// The program shows its alerts itself (`bw_alerts_on_present`).
@EventLoop
final class HostPresenter: Presenter {
    private let channel: HostChannel
    private let handler: @EventLoop (PresenterEvent) -> Void
    private var isReady = false

    init(_ channel: HostChannel, _ handler: @escaping @EventLoop (PresenterEvent) -> Void) {
        self.channel = channel
        self.handler = handler
    }

    var state: PresenterState {
        PresenterState(
            kind: "host", isReady: isReady, problem: isReady ? nil : "bw_alerts_on_present() has not been called")
    }

    var isThere: Bool { isReady }

    /// Whether the host has a callback that shows alerts.
    func hostAnswers(_ answers: Bool) {
        guard answers != isReady else { return }
        isReady = answers
        handler(answers ? .ready : .gone("the program no longer shows alerts"))
    }

    func start() {}
    func stop() { isReady = false }

    func show(
        _ alert: PresentedAlert, replacing handle: String?, _ permit: ShowPermit,
        then: @escaping @EventLoop (Result<String?, PresenterError>) -> Void
    ) {
        // One handle per alert, as notification servers have them.
        let place = alert.key.bannerID
        if let handle, handle != place { withdraw(alert.key, handle: handle) }
        var json = alert.json
        json["presentation"] = .integer(Int64(alert.presentation.rawValue))
        json["quietly"] = .bool(alert.isQuiet)
        json["actions"] = .array(alert.actions.map { .object($0.json) })
        json["image"] = alert.content.attachments.first.map(JSONValue.string)
        let answer = HostAnswer(then)
        channel.ask(
            HostQuestion(.present, json: JSONValue.object(json).serialized(), if: { permit.holds }) { code in
                EventLoop.post {
                    switch code {
                    case 0: answer.then(.success(place))
                    case let code?:
                        answer.then(.failure(PresenterError(message: "the program's callback returned \(code)")))
                    case nil:
                        answer.then(.failure(PresenterError(message: "the program has no callback to show alerts")))
                    }
                }
            })
    }

    func withdraw(_ key: AlertKey, handle: String?) {
        guard let key = handle.flatMap({ AlertKey(banner: $0) }) else { return }
        let json: JSONObject = [
            "desktop": key.desktop.map { .string($0.text) }, "alert": ["id": .string(key.id.text)], "withdraw": true,
        ]
        channel.ask(HostQuestion(.present, json: JSONValue.object(json).serialized()) { _ in })
    }

    /// The host gets an event, whoever shows the alerts.
    func setBadge(_ count: Int64) {}
}

/// Carries a callback of the loop across the host's thread.
private struct HostAnswer: @unchecked Sendable {
    let then: @EventLoop (Result<String?, PresenterError>) -> Void

    init(_ then: @escaping @EventLoop (Result<String?, PresenterError>) -> Void) { self.then = then }
}
