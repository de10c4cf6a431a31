import JSON
package import Notifications
package import Wire

/// The outcome of a command: an answer, and what is to be done once the store has committed.
package struct Handled: Sendable, Equatable {
    package enum Reply: Sendable, Equatable {
        /// Answer now.
        case ready(CommandResponse.Outcome)
        /// Push first: the answer tells who got it.
        case afterPush(PendingReply)
    }

    package indirect enum Effect: Sendable, Equatable {
        /// Show it to the desktop's user. Absent when it is silenced.
        case show(Notification)
        /// Send it to these paired devices, each in its own form.
        case push(NotificationEvent, to: [PeerID])
        /// It is kept until then.
        case scheduled(EpochMilliseconds)
    }

    /// The new state of the desktop: for its host, and for the user's other devices (WireMessages, "State changes").
    package struct Announcement: Sendable, Equatable {
        package let event: StateEvent
        /// For all paired devices except the caller, which gets the answer. Only Bellwire devices understand it. It may
        /// be empty; the program is notified anyway.
        package let devices: [PeerID]
    }

    package let reply: Reply
    package let effects: [Effect]
    /// After the effects, in order.
    package let announcements: [Announcement]
    /// The row of the notification that is pushed: the outbox refers to it.
    package let row: Int64?

    package init(_ reply: Reply, effects: [Effect] = [], announcements: [Announcement] = [], row: Int64? = nil) {
        self.reply = reply
        self.effects = effects
        self.announcements = announcements
        self.row = row
    }
}

/// An answer that lacks only who was reached.
package struct PendingReply: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case sendToMobile(deviceID: String)
        case broadcast
    }

    let kind: Kind
    let id: NotificationID
    let moment: EpochMilliseconds
    let silenced: Bool
    /// Everybody that the push goes to.
    package let devices: [PeerID]

    /// - Parameter delivered: those of ``devices`` to whom it was written, and whom nobody called absent.
    package func complete(delivered: Set<PeerID>) -> CommandResponse.Outcome {
        let reached = devices.reduce(into: 0) { if delivered.contains($1) { $0 += 1 } }
        var result: JSONObject
        switch kind {
        case .sendToMobile(let deviceID):
            let isDelivered = reached > 0
            result = [
                "success": true,
                "delivered": .bool(isDelivered),
                "deviceId": .string(deviceID),
                "notificationId": .string(id.text),
                "error": isDelivered ? nil : "the device is not connected",
                "timestamp": .integer(moment),
            ]
        case .broadcast:
            result = [
                "success": true,
                "deliveredCount": .integer(Int64(reached)),
                "failedCount": .integer(Int64(devices.count - reached)),
                "notificationId": .string(id.text),
                "timestamp": .integer(moment),
            ]
        }
        if silenced { result["silenced"] = true }
        return .result(.object(result))
    }
}
