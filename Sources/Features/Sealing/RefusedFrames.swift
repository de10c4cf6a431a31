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
