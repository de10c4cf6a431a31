import Alerts
package import Hosting
import JSON
import Store
import Wire

extension HostError {
    static var noAlerts: Self { HostError(.unsupported, "the device was opened with \"alerts\":\"none\"") }
    static var notStarted: Self {
        HostError(
            .offline, "the device has not been started; call bw_device_start() first")
    }
    package static var noHostPresenter: Self {
        HostError(.unsupported, "the device was not opened with \"alerts\":\"host\"")
    }
    static var noSuchAlert: Self { HostError(.notFound, "no such alert was shown, or it was already answered") }
    static var idAndThread: Self {
        HostError(
            .invalid, "pass an id or a thread, or neither for all", detail: ["field": "thread"])
    }

    static func refused(_ authorization: Authorization, _ now: EpochMilliseconds) -> HostError {
        HostError(
            .denied,
            "the user declined alerts; to let the user change this, offer a switch in your settings that calls "
                + "bw_alerts_authorize()", detail: authorization.json(now))
    }

    init(_ error: AlertsError) {
        self.init(.invalid, error.message, detail: ["field": error.field.map(JSONValue.string)])
    }
}

extension Result where Failure == StoreError {
    var hostError: HostError? { if case .failure(let error) = self { HostError(error) } else { nil } }
}
