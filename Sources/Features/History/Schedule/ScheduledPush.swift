package import JSON
import Notifications
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

    /// For whom a program of the desktop's has scheduled it; `nil` = for the user.
    package var publisher: String? { caller == .host ? params[Parameter.publisher.name]?.string : nil }

    /// Pushes that a desktop keeps for later at most.
    package static let limit: Int64 = 1_000
    /// The part of these that publishers may have together: the others are for the user's own devices and programs.
    package static let publishersLimit: Int64 = 500
    /// The part of that for one publisher.
    package static let publisherLimit: Int64 = 100
    /// How far ahead a push may be scheduled, in milliseconds: 366 days.
    package static let horizon: Int64 = 366 * 86_400_000
}
