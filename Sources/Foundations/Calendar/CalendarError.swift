/// An invalid date or time.
package struct CalendarError: Error, Sendable, Equatable {
    /// Which component it is about, when it is about one.
    package let component: CalendarMatch.Component?
    /// For people, in English.
    package let message: String

    package init(_ message: String, component: CalendarMatch.Component? = nil) {
        (self.message, self.component) = (message, component)
    }
}
