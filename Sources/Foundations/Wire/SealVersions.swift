package import JSON

/// The versions of the seal that a peer offers, as it names them: `"seal":[1,2]` (WireSessions, "Versions").
///
/// Unknown numbers are kept: a proof covers the offer as it was made, so that a later version of Bellwire may offer more.
package struct SealVersions: Sendable, Equatable {
    /// Numbers in one offer.
    package static let limit = 16
    /// What this side offers.
    package static let own = SealVersions(numbers: [1, 2])
    /// The first version with sessions.
    private static let sessions: Int64 = 2

    /// In the order of the frame.
    package let numbers: [Int64]

    private init(numbers: [Int64]) { self.numbers = numbers }

    /// `nil` unless the value is a list of 1 to 16 different positive integers.
    package init?(_ value: JSONValue) {
        guard let list = value.array, (1...Self.limit).contains(list.count) else { return nil }
        let numbers = list.compactMap { element -> Int64? in
            if case .integer(let number) = element, number > 0 { number } else { nil }
        }
        guard numbers.count == list.count, Set(numbers).count == numbers.count else { return nil }
        self.init(numbers: numbers)
    }

    package var json: JSONValue { .array(numbers.map(JSONValue.integer)) }

    /// As a proof covers it: `1,2`.
    package var text: String { numbers.map { String($0) }.joined(separator: ",") }

    package var allowsSessions: Bool { numbers.contains(Self.sessions) }
}

extension PairingFields {
    /// The optional offer of a code or a pairing frame. One that can't be read is an error: it never means version 1.
    func sealVersions(_ value: JSONValue?, _ key: String) throws(PairingFailure) -> SealVersions? {
        guard let value, !value.isNull else { return nil }
        guard let versions = SealVersions(value) else { throw PairingFailure(.badField, detail: key) }
        return versions
    }
}
