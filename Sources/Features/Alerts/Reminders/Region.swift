/// A circle on the earth that a device enters or leaves.
package struct Region: Sendable, Equatable {
    /// At what a reminder comes.
    package enum Crossing: String, Sendable, CaseIterable { case enter, exit, both }

    /// Where the position was when that was last certain.
    package enum Side: String, Sendable, CaseIterable { case unknown, inside, outside }

    package let centre: Position
    /// In metres.
    package let radius: Double
    package let crossing: Crossing

    package static let radii: ClosedRange<Double> = 10...1_000_000

    package init(_ centre: Position, radius: Double, on crossing: Crossing = .enter) throws(AlertsError) {
        guard Region.radii.contains(radius) else {
            throw AlertsError("radius_m: must be from 10 to 1000000", field: "radius_m")
        }
        (self.centre, self.radius, self.crossing) = (centre, radius, crossing)
    }

    /// Where a position is with all of its uncertainty; `nil` when it may be either.
    package func side(of position: Position) -> Side? {
        let distance = centre.distance(to: position)
        if distance + position.accuracy <= radius { return .inside }
        return distance - position.accuracy > radius ? .outside : nil
    }

    /// Whether a reminder fires on this change of side. The first known position never counts as leaving.
    package func isCrossed(from old: Side, to new: Side) -> Bool {
        switch (old, new) {
        case (.outside, .inside), (.unknown, .inside): crossing != .exit
        case (.inside, .outside): crossing != .enter
        case (.unknown, .outside), (.inside, .inside), (.outside, .outside), (_, .unknown): false
        }
    }
}
