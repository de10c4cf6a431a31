package import JSON
package import Wire

/// A command that waits for its desktop.
package struct QueuedCommand: Sendable, Equatable {
    package enum State: Sendable, Equatable {
        case pending
        /// Under way: the desktop may have carried it out already.
        case sending
        /// Stays until it is retried or cleared.
        case failed(QueueFailure)
    }

    /// The same in each attempt: a Bellwire desktop executes an id once (WireMessages, "Repeated and late commands").
    package let id: RequestID
    package let desktop: PeerID
    package let method: String
    /// As they go on the wire.
    package var params: JSONObject
    package let createdAt: EpochMilliseconds
    /// After this moment no desktop carries it out.
    package var expiresAt: EpochMilliseconds
    package var state: State
    /// How often it was sent without an answer.
    package var tries: Int

    package init(
        id: RequestID, desktop: PeerID, method: String, params: JSONObject, createdAt: EpochMilliseconds,
        expiresAt: EpochMilliseconds, state: State = .pending, tries: Int = 0
    ) {
        self.id = id
        self.desktop = desktop
        self.method = method
        self.params = params
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.state = state
        self.tries = tries
    }

    package var isPending: Bool { state == .pending }
    package var isSending: Bool { state == .sending }
    package var isFailed: Bool { if case .failed = state { true } else { false } }

    /// For hosts: `{"id","desktop","method","params","state","tries","createdAt","expiresAt","error"?}`.
    package var json: JSONObject {
        var json: JSONObject = [
            "id": .string(id.text), "desktop": .string(desktop.text), "method": .string(method),
            "params": .object(params), "state": .string(stateName), "tries": .integer(Int64(tries)),
            "createdAt": .integer(createdAt), "expiresAt": .integer(expiresAt),
        ]
        if case .failed(let failure) = state { json["error"] = .object(failure.json) }
        return json
    }

    var stateName: String {
        switch state {
        case .pending: "pending"
        case .sending: "sending"
        case .failed: "failed"
        }
    }
}

/// The reason why a queued command was not executed.
package struct QueueFailure: Sendable, Equatable {
    /// A status' name in small letters, such as `denied`; or `expired`.
    package let code: String
    /// For people, in English.
    package let message: String

    package init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Its time was over before the desktop was there.
    package static let expired = QueueFailure("expired", "the desktop was offline for too long")

    package var json: JSONObject { ["code": .string(code), "message": .string(message)] }
}

/// The outcome of a queued command. Told once for each that leaves the queue, and for each that fails.
package struct QueueEnd: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        /// The desktop's answer.
        case done(JSONObject)
        /// It is still in the queue, and may be retried.
        case failed(QueueFailure)
        /// A newer command has made it needless.
        case superseded(by: RequestID)
        /// It gave way to a newer one: the queue was full.
        case displaced
        /// The host took it out, or its desktop was unpaired.
        case removed
    }

    package let command: QueuedCommand
    package let outcome: Outcome

    package init(_ command: QueuedCommand, _ outcome: Outcome) {
        self.command = command
        self.outcome = outcome
    }

    /// For hosts: `{"id","method","outcome","result"?,"error"?,"by"?}`.
    package var json: JSONObject {
        var json: JSONObject = ["id": .string(command.id.text), "method": .string(command.method)]
        switch outcome {
        case .done(let result):
            json["outcome"] = "done"
            json["result"] = .object(result)
        case .failed(let failure):
            json["outcome"] = "failed"
            json["error"] = .object(failure.json)
        case .superseded(let id):
            json["outcome"] = "superseded"
            json["by"] = .string(id.text)
        case .displaced: json["outcome"] = "displaced"
        case .removed: json["outcome"] = "removed"
        }
        return json
    }
}
