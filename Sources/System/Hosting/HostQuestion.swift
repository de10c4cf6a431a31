/// The callbacks of a host that are asked something, in dispatch.
package enum HostHook: Sendable, CaseIterable {
    /// May alerts be shown? What it returns means nothing: the host decides in its own time.
    case authorize
    /// The program is in front: what of this alert shall be seen?
    case willPresent
    /// Show this alert.
    case present
}

/// Something that the host is to answer.
package struct HostQuestion: Sendable {
    package let hook: HostHook
    /// What the callback gets.
    package let json: String
    /// Asked right before the callback, on its thread: `false` = the question is not put any more.
    package let isAsked: @Sendable () -> Bool
    /// Called exactly once, on any thread, possibly before the question has been put: with what the callback returned;
    /// `nil` = nobody is registered, too many questions wait, it is not asked any more, or the handle was closed. After the role's `shutDown` it
    /// may still come.
    package let answer: @Sendable (Int32?) -> Void

    package init(
        _ hook: HostHook, json: String, if isAsked: @escaping @Sendable () -> Bool = { true },
        answer: @escaping @Sendable (Int32?) -> Void
    ) {
        self.hook = hook
        self.json = json
        self.isAsked = isAsked
        self.answer = answer
    }
}
