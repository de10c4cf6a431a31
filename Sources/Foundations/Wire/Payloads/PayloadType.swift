/// The `type` of a payload inside a `message` (WireMessages, "Overview").
package enum PayloadType {
    package static let request = "chainlesschain:command:request"
    package static let response = "chainlesschain:command:response"
    package static let cancel = "chainlesschain:command:cancel"
    package static let event = "chainlesschain:event"
    /// An event as deployed Android phones read it: `{"method","params"}`.
    package static let notificationEvent = "chainlesschain:event:notification"
    /// An event as some deployed desktops send it: the fields alone.
    package static let notificationReceived = "chainlesschain:notification:received"
    package static let iceConfig = "chainlesschain:ice:config"
    package static let heartbeat = "chainlesschain:heartbeat"
    package static let heartbeatAck = "chainlesschain:heartbeat:ack"
    package static let pairAck = "pair-ack"
    package static let pairingConfirmation = "pairing:confirmation"
    package static let pairingReject = "pairing:reject"
    /// What only Bellwire peers say begins with this.
    package static let bellwirePrefix = "bellwire:"
}

/// The `event` of an event.
package enum EventName {
    package static let notificationReceived = "notification.received"
}
