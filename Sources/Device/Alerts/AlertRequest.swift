package import Hosting
package import JSON
import Transport

extension Device {
    /// What a host asks of the alerts; bellwire.h, "Alerts" and "Reminders".
    package enum AlertRequest: Sendable {
        case state
        case requestAuthorization(isProvisional: Bool)
        case authorize(status: String, until: Int64)
        case inFront(Bool)
        case respond(desktop: String?, id: String, action: String, text: String?)
        case categories(JSONValue)
        case settings
        case change(JSONObject)
        case delivered
        case remove(desktop: String?, id: String?, thread: String?)
        case badge(Int64)
        case addReminder(JSONObject)
        case reminders
        case removeReminders(id: String?, thread: String?)
        case position(latitude: Double, longitude: Double, accuracy: Double)
    }

    /// - Parameter timeout: milliseconds, for what waits for a person.
    package func alerts(_ request: AlertRequest, timeout: Int64, then: @escaping Then) {
        EventLoop.post { [core] in core.alerts.carryOut(request, timeout: timeout, then) }
    }

    /// Takes in what a push service brought.
    package func receive(_ payload: JSONObject, service: String, then: @escaping Then) {
        EventLoop.post { [core] in core.pushServices.receive(payload, service: service, then) }
    }

    /// Ends a silent push.
    package func complete(_ id: String, _ result: String, then: @escaping Then) {
        EventLoop.post { [core] in core.pushServices.complete(id, result, then) }
    }

    /// Whether the host has a callback that answers these questions.
    package func hostAnswers(_ hook: HostHook, _ answers: Bool) {
        EventLoop.post { [core] in core.alerts.hostAnswers(hook, answers) }
    }

    package func requireHostPresenter() throws(HostError) {
        guard core.context.options.alerts.kind == .host else {
            throw HostError(.unsupported, "the device was not opened with \"alerts\":\"host\"")
        }
    }
}
