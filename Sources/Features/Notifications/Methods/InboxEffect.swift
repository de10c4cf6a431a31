/// The effect of a method on an inbox. The numbers are stored.
package enum InboxEffect: Int64, Sendable, Hashable, CaseIterable {
    case read = 0
    case allRead = 1
    case delete = 2
    case clear = 3

    /// It concerns everything of its desktop, including what is not in the inbox.
    package var isOfAll: Bool {
        switch self {
        case .read, .delete: false
        case .allRead, .clear: true
        }
    }

    /// Once this has been carried out, it makes no difference whether the earlier one was. Unless this ``isOfAll``, both
    /// must name the same notification.
    package func covers(_ earlier: InboxEffect) -> Bool {
        switch (self, earlier) {
        case (.clear, _), (.allRead, .read), (.allRead, .allRead), (.delete, .read), (.delete, .delete), (.read, .read):
            true
        case (.allRead, .delete), (.allRead, .clear), (.delete, .allRead), (.delete, .clear), (.read, .allRead),
            (.read, .delete), (.read, .clear):
            false
        }
    }
}
