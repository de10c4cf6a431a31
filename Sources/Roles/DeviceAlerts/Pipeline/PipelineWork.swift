import Alerts
import HTTPClient
import Identity
import Notifications
import Signalling
import Store
import Wire

/// The store jobs of ``AlertPipeline``.
indirect enum PipelineWork: StoreWork {
    /// Reads the oldest due alerts.
    case takeUp(limit: Int)
    case hold(AlertRow, AlertDecision.Hold, AlertReport)
    /// Drops a row. With a report, it is told if that went well.
    case drop(Int64, AlertKey, AlertReport?)
    /// Records that an alert was shown.
    case record(Int64, AlertKey, handle: String?, AlertReport)
    /// Finds out whether an alert has that banner.
    case findOwner(String, AlertKey)
    case keepImage(AlertRun.Ticket, AlertContent, Fetched, directory: String)

    indirect enum Outcome: Sendable {
        case due([AlertPipeline.Due])
        /// Banners that nobody needs any more.
        case unused([String])
        case image(Result<AlertContent, EnrichmentError>)
    }

    func run(_ store: AlertTransaction) throws(StoreError) -> Outcome {
        switch self {
        case .takeUp(let limit):
            var due: [AlertPipeline.Due] = []
            for alert in try store.alerts.due(limit: limit) {
                let push = try alert.key.desktop.flatMap { (desktop) throws(StoreError) in
                    try store.inbox.notification(NotificationID(alert.key.id.text), of: desktop, store.connection)
                }
                due.append(AlertPipeline.Due(alert: alert, push: push))
            }
            return .due(due)
        case .hold(let alert, let hold, _): return .unused(try store.alerts.hold(alert.row, hold).map { [$0] } ?? [])
        case .drop(let row, _, _): return .unused(try store.alerts.drop(row).map { [$0] } ?? [])
        case .record(let row, _, let handle, _):
            return .unused(try store.alerts.delivered(row, at: .now, handle: handle).close)
        case .findOwner(let handle, _): return .unused(try store.alerts.find(handle: handle) == nil ? [handle] : [])
        case .keepImage(let ticket, let content, let fetched, let directory):
            return .image(try keep(fetched, content, in: directory, of: ticket.row, store))
        }
    }

    /// Checks the bytes and writes them to the disk, here because that may block. The stored alert then names the file.
    private func keep(
        _ fetched: Fetched, _ content: AlertContent, in directory: String, of row: Int64, _ store: AlertTransaction
    ) throws(StoreError) -> Result<AlertContent, EnrichmentError> {
        let path: String
        do throws(EnrichmentError) {
            let format = try ImageFormat.accept(fetched.bytes, contentType: fetched.contentType)
            let name = ContentHash.hex([Array(fetched.url.utf8), fetched.bytes])
            path = try ImageCache(directory: directory).keep(fetched.bytes, format, named: name)
        } catch {
            return .failure(error)
        }
        var content = content
        content.attachments = [path]
        try store.alerts.update(row, content)
        try AlertImages(store.connection).keep(path, of: try store.alerts.find(row)?.key)
        return .success(content)
    }

    var isAwaited: Bool { false }

    var failureReport: String? {
        switch self {
        case .takeUp: "could not read waiting alerts"
        case .hold: "could not hold back an alert"
        case .drop: "could not drop an alert"
        case .record: "could not record a shown alert"
        case .findOwner, .keepImage: nil
        }
    }
}
