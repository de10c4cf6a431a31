/// The reason why a payload could not be sealed or opened. It never repeats what was in it.
package struct SealError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error; more may be added.
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        /// Not sealed by whom the relay names, or changed on the way. Counted.
        package static let forged = Code("forged")
        /// It has come before, or is too old to tell. Counted.
        package static let replayed = Code("replayed")
        /// Sealed, but said by or to somebody else than the relay says: a frame that was redirected or reflected. Counted.
        package static let misaddressed = Code("misaddressed")
        /// No sealed frame, or nothing in it that is one. Counted.
        package static let malformed = Code("malformed")
        /// An id that is no key, or too weak a one: nothing can be sealed to it.
        package static let noKey = Code("no_key")
        /// What is to be sealed would not fit into a frame.
        package static let tooLarge = Code("too_large")
        /// This start has sealed as much as it can count.
        package static let exhausted = Code("exhausted")
    }

    package let code: Code
    /// For people, in English.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}

/// How many sealed frames were refused, by kind, since the role was opened.
package struct RefusedFrames: Sendable, Equatable {
    package internal(set) var forged: UInt64 = 0
    /// Among them the frames of sessions that ended.
    package internal(set) var replayed: UInt64 = 0
    package internal(set) var misaddressed: UInt64 = 0
    package internal(set) var malformed: UInt64 = 0
    /// Version 1 in the name of a peer that has used sessions.
    package internal(set) var downgraded: UInt64 = 0

    package init() {}

    package static func + (left: RefusedFrames, right: RefusedFrames) -> RefusedFrames {
        var sum = left
        sum.forged &+= right.forged
        sum.replayed &+= right.replayed
        sum.misaddressed &+= right.misaddressed
        sum.malformed &+= right.malformed
        sum.downgraded &+= right.downgraded
        return sum
    }

    package mutating func count(_ error: SealError) {
        switch error.code {
        case .downgraded: downgraded &+= 1
        case .forged: forged &+= 1
        case .replayed, .unknownSession: replayed &+= 1
        case .misaddressed: misaddressed &+= 1
        default: malformed &+= 1
        }
    }
}
