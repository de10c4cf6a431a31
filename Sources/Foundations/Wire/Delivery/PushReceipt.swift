package import JSON

/// A device reports whether it has shown a push to its user (WireSealing, "Receipts").
package struct PushReceipt: Sendable, Equatable {
    package static let type = "bellwire:receipt"

    package let id: NotificationID
    package let isPresented: Bool
    /// By the device's clock.
    package let at: EpochMilliseconds

    package init(id: NotificationID, isPresented: Bool, at: EpochMilliseconds) {
        self.id = id
        self.isPresented = isPresented
        self.at = at
    }

    /// Reads the inner payload; `nil` when it is none.
    package init?(payload: JSONObject) {
        guard let id = payload["id"]?.string, (1...Self.maximumIDBytes).contains(id.utf8.count),
            let isPresented = payload["presented"]?.bool, let at = payload["at"]?.integer
        else { return nil }
        self.init(id: NotificationID(id), isPresented: isPresented, at: at)
    }

    private static let maximumIDBytes = 1_024

    /// The whole payload of a `message`.
    package var json: JSONValue {
        [
            "type": .string(Self.type),
            "payload": ["id": .string(id.text), "presented": .bool(isPresented), "at": .integer(at)],
        ]
    }
}
