import Alerts
import JSON
import Wire

/// The result of `bw_alerts_state`.
struct AlertsState {
    let authorization: Authorization
    let presenter: PresenterState
    let isInFront: Bool
    let badge: Int64
    /// Alerts on their way to the screen.
    let waiting: Int
    let records: AlertRecords.Counters
    let pipeline: AlertPipeline.Counters

    func json(_ now: EpochMilliseconds) -> JSONValue {
        .object([
            "authorization": .object(authorization.json(now)),
            "presenter": [
                "kind": .string(presenter.kind), "ready": .bool(presenter.isReady),
                "server": presenter.server.map(JSONValue.string),
                "capabilities": presenter.capabilities.map { .array($0.map(JSONValue.string)) },
                "problem": presenter.problem.map(JSONValue.string),
                "doNotDisturb": presenter.doNotDisturb.map(JSONValue.bool),
            ],
            "inFront": .bool(isInFront), "badge": .integer(badge), "waiting": .integer(Int64(waiting)),
            "counters": [
                "shown": .integer(records.shown), "hidden": .integer(records.hidden),
                "failed": .integer(pipeline.failed), "responses": .integer(records.responses),
                "images": .integer(pipeline.images), "imagesRefused": .integer(pipeline.imagesRefused),
            ],
        ])
    }
}
