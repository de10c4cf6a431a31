import Alerts
import Signalling
import Store

/// Reads what the alerts start with.
struct LoadWork: StoreWork {
    func run(_ store: AlertTransaction) throws(StoreError) -> StoredAlertState {
        try StoredAlertState(store.connection)
    }

    var isAwaited: Bool { true }
    var failureReport: String? { nil }
}

/// Reads the alerts whose banners may still be on the screen.
struct DeliveredWork: StoreWork {
    func run(_ store: AlertTransaction) throws(StoreError) -> [AlertRow] { try store.alerts.delivered() }

    var isAwaited: Bool { false }
    var failureReport: String? { nil }
}

/// Reads what an earlier process left.
struct EarlierWork: StoreWork {
    /// False: late alerts are forgotten.
    let keepsLate: Bool

    func run(_ store: AlertTransaction) throws(StoreError) -> (lastRow: Int64, unread: Int64) {
        if !keepsLate { try store.alerts.forget(.late) }
        return (try store.alerts.lastRow(), try store.inbox.unreadCount(store.connection))
    }

    var isAwaited: Bool { false }
    var failureReport: String? { "could not read the alerts of the last run" }
}

/// Deletes images that are too old or too many. The outcome is whether none is left.
struct ImageSweep: StoreWork {
    let directory: String

    func run(_ store: AlertTransaction) -> Bool {
        let cache = ImageCache(directory: directory)
        cache.sweep(now: .now)
        return cache.isEmpty
    }

    var isAwaited: Bool { false }
    var failureReport: String? { nil }
}
