/// How often a plain frame has said a wrong code, on one offer.
///
/// Six digits are guessed in a million tries, which take minutes. After a few, plain frames count for nothing on this offer,
/// whatever they say; sealed ones do.
struct PlainGuesses: Sendable, Equatable {
    static let limit = 10

    private var wrong = 0

    var areLeft: Bool { wrong < Self.limit }

    mutating func note() { wrong = min(wrong + 1, Self.limit) }
}
