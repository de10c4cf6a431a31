package import DeviceAlerts
package import Hosting
package import JSON
import Transport

extension Device {
    /// - Parameter timeout: milliseconds, for requests that wait for a person.
    package func alerts(_ request: AlertRequest, timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.alerts.all.carryOut(request, timeout: timeout, then) }
    }

    /// Takes in what a push service delivered.
    package func receive(_ payload: JSONObject, service: String, then: @escaping Then) {
        EventLoop.post { [core] in core.pushServices.receive(payload, service: service, then) }
    }

    /// Ends a silent push.
    package func complete(_ id: String, _ result: String, then: @escaping Then) {
        EventLoop.post { [core] in core.pushServices.complete(id, result, then) }
    }

    /// Whether the host has a callback that answers these questions.
    package func hostAnswers(_ hook: HostHook, _ answers: Bool) {
        EventLoop.post { [core] in core.alerts.all.hostAnswers(hook, answers) }
    }

    /// Opens the desktop environment's settings for notifications. Blocks for the time that takes.
    package func openNotificationSettings() throws(HostError) {
        try DeviceAlerts.openSettings(core.context.options.alerts)
    }

    package func requireHostPresenter() throws(HostError) {
        guard core.context.options.alerts.kind == .host else { throw .noHostPresenter }
    }
}
