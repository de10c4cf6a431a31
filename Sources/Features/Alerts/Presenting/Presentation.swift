/// How an alert is shown while the program is in front: what `will_present` answers.
package struct Presentation: OptionSet, Sendable, Equatable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let banner = Presentation(rawValue: 1)
    package static let sound = Presentation(rawValue: 2)
    package static let badge = Presentation(rawValue: 4)
    /// Where the server keeps what was shown.
    package static let list = Presentation(rawValue: 8)
    package static let all: Presentation = [.banner, .sound, .badge, .list]

    /// The result of the program's callback; unknown bits are ignored. `nil` = there is no callback. That, and an
    /// invalid result, means all.
    package init(answer: Int32?) {
        self = answer.map { $0 < 0 ? .all : Presentation(rawValue: $0).intersection(.all) } ?? .all
    }

    /// Is there something for the presenter to do?
    package var isVisible: Bool { !isDisjoint(with: [.banner, .list]) }
}
