/// Our banners at a server of `org.freedesktop.Notifications`, by its numbers: it tells of everybody's, and only ours count.
struct ShownBanners: Sendable {
    /// More are not followed: the oldest is forgotten first.
    static let maximum = 1_024

    private struct Entry: Sendable {
        let replyID: String?
        /// It may make room for a critical one.
        let isOrdinary: Bool
        let order: UInt64
    }

    enum End: Sendable, Equatable {
        case dismissed
        /// It expired, or was taken away.
        case closed
    }

    private var entries: [UInt32: Entry] = [:]
    private var order: UInt64 = 0

    mutating func shown(_ number: UInt32, replyID: String?, isOrdinary: Bool = false) {
        order &+= 1
        entries[number] = Entry(replyID: replyID, isOrdinary: isOrdinary, order: order)
        guard entries.count > Self.maximum, let oldest = entries.min(by: { $0.value.order < $1.value.order }) else {
            return
        }
        entries[oldest.key] = nil
    }

    var oldestOrdinary: UInt32? {
        entries.lazy.filter(\.value.isOrdinary).min { $0.value.order < $1.value.order }?.key
    }

    func contains(_ number: UInt32) -> Bool { entries[number] != nil }

    @discardableResult
    mutating func forget(_ number: UInt32) -> Bool { entries.removeValue(forKey: number) != nil }

    mutating func clear() { entries = [:] }

    /// `NotificationClosed`. `nil` = not one of ours, or already answered: an answered banner is also closed with this
    /// signal.
    mutating func closed(_ number: UInt32, reason: UInt32) -> End? {
        guard forget(number) else { return nil }
        let dismissedByUser: UInt32 = 2
        return reason == dismissedByUser ? .dismissed : .closed
    }

    /// `ActionInvoked`. `nil` = none of ours, or no action of it.
    mutating func invoked(_ number: UInt32, key: String) -> BannerServer.Response? {
        guard entries[number] != nil else { return nil }
        let response: BannerServer.Response
        if key == BannerRequest.tap {
            response = .tap
        } else if let id = ActionKey.id(of: key) {
            response = .action(id)
        } else {
            // Some say this before the reply itself.
            return nil
        }
        entries[number] = nil
        return response
    }

    /// `NotificationReplied`.
    mutating func replied(_ number: UInt32, text: String) -> BannerServer.Response? {
        guard let entry = entries[number], let id = entry.replyID else { return nil }
        entries[number] = nil
        return .reply(id: id, text)
    }
}
