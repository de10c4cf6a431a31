package import Identity

/// A device's prekeys at a desktop: which push is sealed to which (WirePrekeys, "Sealed pushes").
///
/// A pure struct. What was used stays known for as long as the device states it, so that it is not used again.
package struct PrekeyStock: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package let key: AgreementPublicKey
        package let isLastResort: Bool
        package var isUsed: Bool

        package init(key: AgreementPublicKey, isLastResort: Bool, isUsed: Bool = false) {
            self.key = key
            self.isLastResort = isLastResort
            self.isUsed = isUsed
        }
    }

    /// In the order of use.
    package private(set) var entries: [Entry]

    package init(_ entries: [Entry] = []) { self.entries = entries }

    /// Single-use ones that were not used.
    package var left: Int { entries.count { !$0.isLastResort && !$0.isUsed } }

    /// Fewer are left than a desktop wants.
    package var isLow: Bool { left < PrekeyLimits().low }

    package var shortage: PrekeyShortage { PrekeyShortage(left: left) }

    /// Replaces all of them by what the device states.
    package mutating func apply(_ statement: PrekeyStatement) {
        let used = Set(entries.lazy.filter(\.isUsed).map(\.key))
        entries =
            statement.keys.map { Entry(key: $0, isLastResort: false, isUsed: used.contains($0)) }
            + [Entry(key: statement.lastResort, isLastResort: true)]
    }

    /// The one for the next push: the oldest unused one, else the last resort. `nil` = there is none.
    package mutating func take() -> Entry? {
        guard let place = entries.firstIndex(where: { !$0.isLastResort && !$0.isUsed }) else {
            return entries.first(where: \.isLastResort)
        }
        entries[place].isUsed = true
        return entries[place]
    }
}
