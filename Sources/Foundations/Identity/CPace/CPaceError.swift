/// The reason why a run of CPace failed. It never repeats what came, nor the code.
package struct CPaceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error; more may be added.
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        /// A session id that is not 16 bytes in base64url.
        package static let invalidSession = Code("invalid_session")
        /// A share that is no point, or the neutral one, or the very one that was sent. The draft: "MUST abort".
        package static let invalidShare = Code("invalid_share")
        /// Both sides would be the same peer.
        package static let samePeer = Code("same_peer")
        /// The randomness that was handed in is none.
        package static let noRandomness = Code("no_randomness")
    }

    package let code: Code
    /// For people, in English.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
