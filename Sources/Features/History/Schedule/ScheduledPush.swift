package import JSON
package import Wire

/// A push that the desktop keeps for later.
package struct ScheduledPush: Sendable, Equatable {
    /// What its notification will have.
    package let id: NotificationID
    /// When it is pushed, by the desktop's clock.
    package let moment: EpochMilliseconds
    package let method: String
    /// As they came, without the time.
    package let params: JSONObject
    package let caller: MethodHandler.Caller

    package init(
        id: NotificationID, at moment: EpochMilliseconds, method: String, params: JSONObject,
        caller: MethodHandler.Caller
    ) {
        (self.id, self.moment, self.method, self.params, self.caller) = (id, moment, method, params, caller)
    }

    /// Pushes that a desktop keeps for later at most.
    package static let limit: Int64 = 1_000
    /// How far ahead a push may be scheduled, in milliseconds: 366 days.
    package static let horizon: Int64 = 366 * 86_400_000
}
