import Alerts
import Hosting
import JSON
import Store
import Synchronization
import Wire

@testable import DeviceAlerts

let desktop = PeerID("desk")
let storeError = StoreError(.full, "the disk is full")

func key(_ id: AlertID, of peer: PeerID? = desktop) -> AlertKey { AlertKey(desktop: peer, id: id) }

func alert(
    _ row: Int64, id: AlertID? = nil, _ content: AlertContent = AlertContent(title: "Title"), handle: String? = nil,
    state: AlertRow.State = .due, isReminder: Bool = false, isLate: Bool = false, dueAt: EpochMilliseconds = 1_000_000
) -> AlertRow {
    AlertRow(
        row: row, key: key(id ?? AlertID("n\(row)")), content: content, state: state, source: "pc", isSilenced: false,
        isReminder: isReminder, isLate: isLate, dueAt: dueAt, shownAt: nil, handle: handle)
}

func judge(
    _ settings: AlertSettings = AlertSettings(), _ authorization: Authorization.Status = .authorized,
    lateAlerts: LateAlerts = .none, fetchesImages: Bool = true
) -> AlertJudge {
    AlertJudge(
        settings: settings, authorization: authorization, lateAlerts: lateAlerts, fetchesImages: fetchesImages,
        programName: "Program", now: 1_000_000)
}

func sampleConfiguration(
    _ kind: String, _ more: JSONObject = [:], lateAlerts: LateAlerts = .none, language: AlertLanguage = .english
) throws -> AlertConfiguration {
    var json: JSONObject = ["alerts": .string(kind)]
    json.merge(more)
    var reader = try OptionsReader(parsing: JSONValue.object(json).serialized())
    return AlertConfiguration(
        try AlertOptions(&reader), lateAlerts: lateAlerts, programName: "Program", language: language,
        stateDirectory: "/state", caFile: nil)
}

/// Collects what callbacks get, from any thread.
final class Replies: Sendable {
    private let all = Mutex<[Result<HostReply, HostError>]>([])

    var then: Then { { [self] result in all.withLock { $0.append(result) } } }

    var count: Int { all.withLock { $0.count } }
    var last: Result<HostReply, HostError>? { all.withLock { $0.last } }
    var error: HostError? { if case .failure(let error) = last { error } else { nil } }
    var json: JSONObject? { (try? last?.get())?.value.object }
}
