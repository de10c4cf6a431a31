import Alerts
import Signalling
import Store
import Wire

/// When the alerts that were held back leave as one digest.
///
/// Decides only. `now` is the loop's monotonic milliseconds.
struct Digests {
    enum Action: Equatable {
        case store(DigestWork)
        /// Call ``lateTimerFired(isQuiet:)`` after that many milliseconds.
        case startLateTimer(UInt64)
        /// Release those that made room for others, or came in a burst, after that many milliseconds, unless that timer
        /// runs already.
        case startRoomTimer(UInt64)
        /// The end of quiet hours matters now.
        case armClock
    }

    /// How long after a late alert another one is waited for, and how long after the first, in milliseconds.
    static let latePause: UInt64 = 2_000
    static let lateLimit: UInt64 = 15_000
    /// A digest of late alerts, or of a burst, that was shown less than this long ago is counted in the next one, in
    /// milliseconds: both are about the same absence or burst.
    static let absenceWindow: EpochMilliseconds = 60_000

    private let lateAlerts: LateAlerts
    /// When the first of those that are being waited for came.
    private var lateSince: UInt64?

    init(_ lateAlerts: LateAlerts) { self.lateAlerts = lateAlerts }

    /// Whether late alerts are summed up, also those of an earlier process.
    var keepsLate: Bool { lateAlerts == .summary }

    /// The device starts: what becomes of the late alerts of an earlier process; `nil` = they are forgotten.
    ///
    /// All of them are in the store, so none is waited for. The digest of those that arrive next counts them again
    /// (``absenceWindow``), because it takes the place of this one.
    func started(isQuiet: Bool) -> DigestWork? {
        guard keepsLate else { return nil }
        return isQuiet ? .moveLateToQuiet : .release(.late)
    }

    /// An alert was held back.
    mutating func held(_ hold: AlertDecision.Hold, now: UInt64) -> Action {
        switch hold {
        case .quietHours: return .armClock
        case .tooMany, .burst: return .startRoomTimer(Self.latePause)
        case .late:
            let since = lateSince ?? now
            lateSince = since
            let end = since &+ Self.lateLimit
            return .startLateTimer(min(Self.latePause, end > now ? end - now : 0))
        }
    }

    mutating func lateTimerFired(isQuiet: Bool) -> Action? {
        lateSince = nil
        return releaseLate(isQuiet: isQuiet)
    }

    /// In quiet hours one digest is enough, when they are over.
    func releaseLate(isQuiet: Bool) -> Action? { started(isQuiet: isQuiet).map { .store($0) } }

    func releaseQuiet(isQuiet: Bool) -> Action? { isQuiet ? nil : .store(.release(.quietHours)) }
}

/// The store jobs of ``Digests``.
enum DigestWork: StoreWork, Equatable {
    /// Makes one alert of those that wait; the outcome is `nil` if none does.
    case release(AlertDecision.Hold)
    /// What came late waits for the end of quiet hours.
    case moveLateToQuiet

    func run(_ store: AlertTransaction) throws(StoreError) -> AlertRow? {
        switch self {
        case .release(let hold):
            let window = hold == .late || hold == .burst ? Digests.absenceWindow : 0
            return try store.alerts.release(hold, at: .now, joiningShownWithin: window, in: store.language)
        case .moveLateToQuiet:
            try store.alerts.moveLateToQuiet()
            return nil
        }
    }

    var isAwaited: Bool { false }

    var failureReport: String? {
        switch self {
        case .release: "could not release alerts that were held back"
        case .moveLateToQuiet: "could not hold back late alerts"
        }
    }
}
