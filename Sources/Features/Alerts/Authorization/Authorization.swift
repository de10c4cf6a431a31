package import JSON
package import Wire

/// The user's permission to show alerts.
package struct Authorization: Sendable, Equatable {
    package enum Status: String, Sendable, CaseIterable {
        /// The person was never asked.
        case notDetermined
        case denied
        case authorized
        /// Shown quietly, without having been asked.
        case provisional
        /// Until a moment.
        case ephemeral
    }

    /// What the program does best now.
    package enum Advice: String, Sendable, CaseIterable {
        /// Say what the alerts are for, then ask.
        case explain
        /// Only the person can change it, on the program's page of settings.
        case settings
        /// Nothing is missing: register the tokens of push services, if there are any.
        case register
        /// Ask whether alerts may make themselves heard.
        case upgrade
    }

    package let status: Status
    /// Of `ephemeral`, and of no other: from this moment on it is `notDetermined`.
    package let until: EpochMilliseconds?

    package static let notDetermined = Authorization(.notDetermined)
    package static let denied = Authorization(.denied)
    package static let authorized = Authorization(.authorized)
    package static let provisional = Authorization(.provisional)
    package static func ephemeral(until moment: EpochMilliseconds) -> Authorization {
        Authorization(.ephemeral, until: moment)
    }

    private init(_ status: Status, until: EpochMilliseconds? = nil) { (self.status, self.until) = (status, until) }

    /// What it is at that moment.
    package func current(_ now: EpochMilliseconds) -> Authorization {
        if let until, until <= now { .notDetermined } else { self }
    }

    package var advice: Advice {
        switch status {
        case .notDetermined: .explain
        case .denied: .settings
        case .authorized, .ephemeral: .register
        case .provisional: .upgrade
        }
    }
}

extension Authorization {
    /// The program's decision (`bw_alerts_authorize`).
    ///
    /// - Parameter until: required for `ephemeral`, otherwise 0.
    package init(status name: String, until: EpochMilliseconds) throws(AlertsError) {
        guard let status = Status(rawValue: name) else {
            let names = Status.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw AlertsError("status: must be one of \(names)", field: "status")
        }
        switch status {
        case .ephemeral:
            guard until > 0 else { throw AlertsError("until_ms: is required for \"ephemeral\"", field: "until_ms") }
            self.init(status, until: until)
        case .notDetermined, .denied, .authorized, .provisional:
            guard until == 0 else {
                throw AlertsError("until_ms: must be 0 unless status is \"ephemeral\"", field: "until_ms")
            }
            self.init(status)
        }
    }

    /// What was stored; what cannot be read was never determined.
    package init(stored object: JSONObject) {
        let status = object["status"]?.string.flatMap(Status.init(rawValue:)) ?? .notDetermined
        let until = object["until"]?.integer
        switch (status, until) {
        case (.ephemeral, nil): self = .notDetermined
        case (.ephemeral, _?): self.init(.ephemeral, until: until)
        case (.notDetermined, _), (.denied, _), (.authorized, _), (.provisional, _): self.init(status)
        }
    }

    /// For the store: `{"status","until"?}`.
    package var stored: JSONObject {
        ["status": .string(status.rawValue), "until": until.map(JSONValue.integer)]
    }

    /// For hosts: `{"status","until"?,"advice"}` as it is at that moment.
    package func json(_ now: EpochMilliseconds) -> JSONObject {
        let current = current(now)
        var json = current.stored
        json["advice"] = .string(current.advice.rawValue)
        return json
    }
}
