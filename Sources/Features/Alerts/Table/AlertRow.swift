package import JSON
package import Wire

/// An alert as it is stored.
package struct AlertRow: Sendable, Equatable {
    package enum State: Int64, Sendable, CaseIterable {
        /// Nothing is decided, or it is on its way to the screen. After a start it is run again.
        case due = 0
        case heldQuiet = 1
        case heldLate = 2
        /// It was shown, and neither answered nor withdrawn.
        case delivered = 3
        /// It has made room for others.
        case heldTooMany = 4
        /// Too many came at once.
        case heldBurst = 5

        package init(_ hold: AlertDecision.Hold) {
            switch hold {
            case .quietHours: self = .heldQuiet
            case .late: self = .heldLate
            case .tooMany: self = .heldTooMany
            case .burst: self = .heldBurst
            }
        }
    }

    /// Its number. Another alert with the same key has a different number, so a change of one never affects the other.
    package let row: Int64
    package let key: AlertKey
    package let content: AlertContent
    package let state: State
    /// Of a push: whose it is, such as `pc`.
    package let source: String?
    package let isSilenced: Bool
    package let isReminder: Bool
    package let isLate: Bool
    package let dueAt: EpochMilliseconds
    package let shownAt: EpochMilliseconds?
    /// The banner: its own when it is delivered; before that, the one whose place it takes.
    package let handle: String?

    package init(
        row: Int64, key: AlertKey, content: AlertContent, state: State, source: String?, isSilenced: Bool,
        isReminder: Bool, isLate: Bool, dueAt: EpochMilliseconds, shownAt: EpochMilliseconds?, handle: String?
    ) {
        self.row = row
        self.key = key
        self.content = content
        self.state = state
        self.source = source
        self.isSilenced = isSilenced
        self.isReminder = isReminder
        self.isLate = isLate
        self.dueAt = dueAt
        self.shownAt = shownAt
        self.handle = handle
    }

    /// Shown before others that wait: it is urgent, or a reminder, which has its own time.
    package var comesFirst: Bool { isReminder || content.level == .timeSensitive }

    package var subject: AlertSubject {
        AlertSubject(
            isSilenced: isSilenced, isLate: isLate, level: content.level, source: source, category: content.category,
            isReminder: isReminder)
    }

    /// For hosts, as callbacks get it: `{"desktop"?,"alert":{"id",…},"reminder"?}`.
    package var json: JSONObject {
        var alert: JSONObject = ["id": .string(key.id.text)]
        alert.merge(content.json)
        var json: JSONObject = [:]
        json["desktop"] = key.desktop.map { .string($0.text) }
        json["alert"] = .object(alert)
        if isReminder { json["reminder"] = true }
        return json
    }

    /// As `bw_alerts_delivered` gives it: with `"shownAt"`.
    package var deliveredJSON: JSONObject {
        var json = json
        json["shownAt"] = .integer(shownAt ?? dueAt)
        return json
    }
}

/// An alert that is about to be stored.
package struct NewAlert: Sendable, Equatable {
    package var key: AlertKey
    package var content: AlertContent
    package var dueAt: EpochMilliseconds
    package var source: String?
    package var isSilenced: Bool
    package var isReminder: Bool
    package var isLate: Bool
    /// Of a push: from then on it is not shown.
    package var expiresAt: EpochMilliseconds?

    /// As ``AlertRow/comesFirst``.
    var comesFirst: Bool { isReminder || content.level == .timeSensitive }

    package init(
        _ key: AlertKey, _ content: AlertContent, dueAt: EpochMilliseconds, source: String? = nil,
        isSilenced: Bool = false, isReminder: Bool = false, isLate: Bool = false, expiresAt: EpochMilliseconds? = nil
    ) {
        self.key = key
        self.content = content
        self.dueAt = dueAt
        self.source = source
        self.isSilenced = isSilenced
        self.isReminder = isReminder
        self.isLate = isLate
        self.expiresAt = expiresAt
    }
}
