import JSON
package import Wire

/// What came of a command: an answer, and what is to be done once the store has committed.
package struct Handled: Sendable, Equatable {
    package enum Reply: Sendable, Equatable {
        /// Answer now.
        case ready(CommandResponse.Outcome)
        /// Push first: the answer tells who got it.
        case afterPush(PendingReply)
    }

    package enum Effect: Sendable, Equatable {
        /// Show it to the desktop's user.
        case show(Notification)
        /// Send it to these paired devices, each in its own form.
        case push(NotificationEvent, to: [PeerID])
    }

    package let reply: Reply
    package let effects: [Effect]

    package init(_ reply: Reply, effects: [Effect] = []) {
        self.reply = reply
        self.effects = effects
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
    /// Everybody that the push goes to.
    package let devices: [PeerID]

    /// - Parameter delivered: those of ``devices`` to whom it was written, and whom nobody called absent.
    package func complete(delivered: Set<PeerID>) -> CommandResponse.Outcome {
        let reached = devices.reduce(into: 0) { if delivered.contains($1) { $0 += 1 } }
        switch kind {
        case .sendToMobile(let deviceID):
            let isDelivered = reached > 0
            return .result([
                "success": true,
                "delivered": .bool(isDelivered),
                "deviceId": .string(deviceID),
                "notificationId": .string(id.text),
                "error": isDelivered ? nil : "the device is not connected",
                "timestamp": .integer(moment),
            ])
        case .broadcast:
            return .result([
                "success": true,
                "deliveredCount": .integer(Int64(reached)),
                "failedCount": .integer(Int64(devices.count - reached)),
                "notificationId": .string(id.text),
                "timestamp": .integer(moment),
            ])
        }
    }
}
