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

/// The alerts that an earlier process left.
struct EarlierAlerts: Sendable {
    /// Their banners may still be on the screen.
    let delivered: [AlertRow]
    let lastRow: Int64
    let unread: Int64
}

/// Reads what an earlier process left.
///
/// The first work after the start: nothing that arrives from now on is in the store yet. It only reads, so that it
/// succeeds when the store can't be written.
struct EarlierWork: StoreWork {
    func run(_ store: AlertTransaction) throws(StoreError) -> EarlierAlerts {
        EarlierAlerts(
            delivered: try store.alerts.delivered(), lastRow: try store.alerts.lastRow(),
            unread: try store.inbox.unreadCount(store.connection))
    }

    var isAwaited: Bool { false }
    var failureReport: String? { "could not read the alerts of the last run" }
}

/// Removes the alerts of pushes that were read or deleted while no program showed alerts, then releases the remaining
/// late alerts. Follows ``EarlierWork`` at once.
struct EarlierRelease: StoreWork {
    struct Outcome: Sendable {
        /// Their banners may still be on the screen.
        let removed: [AlertTable.Removed]
        /// The alert to show for those that were held back as late; `nil` = there is none.
        let digest: AlertRow?
    }

    /// What becomes of late alerts; `nil` = they are forgotten.
    let late: DigestWork?

    func run(_ store: AlertTransaction) throws(StoreError) -> Outcome {
        // First, so that the digest doesn't count them.
        let removed = try RecordWork.removeSettledAlerts(store)
        var digest: AlertRow?
        if let late { digest = try late.run(store) } else { try store.alerts.forget(.late) }
        _ = try store.alerts.release(.tooMany, at: .now, in: store.language)
        _ = try store.alerts.release(.burst, at: .now, in: store.language)
        return Outcome(removed: removed, digest: digest)
    }

    var isAwaited: Bool { false }
    var failureReport: String? { "could not release the alerts of the last run" }
}

/// Does nothing, once everything before it is done.
struct Barrier: StoreWork {
    func run(_ store: AlertTransaction) {}

    var isAwaited: Bool { false }
    var failureReport: String? { nil }
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
