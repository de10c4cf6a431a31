package import JSON
import Wire

/// A version of the seal.
package enum SealVersion: Int64, Sendable, Comparable, CaseIterable {
    /// Static keys and stored windows (WireSealing, "The seal").
    case one = 1
    /// Sessions (WireSessions, "Overview").
    case two = 2

    package static func < (left: SealVersion, right: SealVersion) -> Bool { left.rawValue < right.rawValue }
}

/// The versions that a peer's hello offers, as far as they are known here (WireSessions, "Versions").
package struct SealOffer: Sendable, Equatable {
    /// Those that are known here, lowest first. Never empty.
    package let versions: [SealVersion]

    /// What a peer means that says nothing: it was made before the member was.
    package static let unsaid = SealOffer([.one])

    private init(_ versions: [SealVersion]) { self.versions = versions }

    /// The member `seal` of a hello or a code; absent means version 1. Throws `malformed`: what can't be read never
    /// counts as version 1.
    package init(decoding value: JSONValue?) throws(SealError) {
        guard let value else {
            self = .unsaid
            return
        }
        guard let offered = SealVersions(value) else {
            throw SealError(.malformed, "the seal versions are not 1 to 16 different positive integers")
        }
        let versions = offered.numbers.compactMap(SealVersion.init).sorted()
        guard !versions.isEmpty else { throw SealError(.malformed, "no seal version is known here") }
        self.init(versions)
    }

    package func contains(_ version: SealVersion) -> Bool { versions.contains(version) }
}

/// The versions that are accepted between two peers. It only ever rises: version 1 is refused after the first complete
/// session, and from the start where the pairing made a preshared key, as long as the pairing lasts (WireSessions,
/// "Versions").
package struct SealPolicy: Sendable, Equatable {
    /// `minSeal`, stored with the pairing.
    package private(set) var minimum: SealVersion

    /// Of a new pairing.
    ///
    /// - Parameter isPinned: both sides have proved that they use sessions, so version 1 never counts.
    package init(isPinned: Bool = false) { minimum = isPinned ? .two : .one }

    /// What is stored: 1 or 2. `nil` for anything else, which is damage and never means 1.
    package init?(stored: Int64) {
        guard let minimum = SealVersion(rawValue: stored) else { return nil }
        self.minimum = minimum
    }

    package var stored: Int64 { minimum.rawValue }

    /// Throws `downgraded` for a frame or an offer below the minimum.
    package func check(_ version: SealVersion) throws(SealError) {
        guard version >= minimum else {
            throw SealError(.downgraded, "version \(version.rawValue) of the seal came from a peer that uses sessions")
        }
    }

    /// What an authenticated offer of the peer allows. Throws `downgraded` if it leaves nothing at or above the minimum.
    package func best(of offer: SealOffer) throws(SealError) -> SealVersion {
        guard let best = offer.versions.last else { return minimum }
        try check(best)
        return best
    }

    /// A frame of a session was opened: both sides have its keys. `true` the first time: store the new minimum before
    /// that frame has its effect.
    package mutating func sessionCompleted() -> Bool {
        guard minimum < .two else { return false }
        minimum = .two
        return true
    }

    /// How a payload is sealed. `nil` = not at all: wait for a session.
    package func version(hasSession: Bool) -> SealVersion? {
        if hasSession { return .two }
        return minimum == .one ? .one : nil
    }
}
