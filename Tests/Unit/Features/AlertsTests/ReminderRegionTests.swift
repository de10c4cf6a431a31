import Alerts
import Testing

@Suite struct ReminderRegionTests {
    private func position(_ latitude: Double, _ longitude: Double, _ accuracy: Double = 0) throws -> Position {
        try Position(latitude: latitude, longitude: longitude, accuracy: accuracy)
    }

    @Test("a place that is none is refused by the name of what is wrong")
    func refused() {
        for (latitude, longitude, accuracy, field) in [
            (90.1, 0, 0, "latitude"), (-.infinity, 0, 0, "latitude"), (.nan, 0, 0, "latitude"),
            (0, 180.1, 0, "longitude"), (0, .infinity, 0, "longitude"), (0, .nan, 0, "longitude"),
            (0, 1e308, 0, "longitude"), (0, 0, -1, "accuracy_m"), (0, 0, .nan, "accuracy_m"),
            (0, 0, .infinity, "accuracy_m"),
        ] as [(Double, Double, Double, String)] {
            #expect { try position(latitude, longitude, accuracy) } throws: { ($0 as? AlertsError)?.field == field }
        }
        for radius in [0, 9.99, 1_000_000.1, -10, .nan, .infinity] {
            #expect(throws: AlertsError.self) { try Region(try position(0, 0), radius: radius) }
        }
    }

    @Test("distances are those of a sphere, at the poles and across 180 degrees too")
    func distances() throws {
        let degree = 2 * 6_371_008.8 * Double.pi / 360
        for (from, to, metres) in [
            (try position(0, 0), try position(0, 1), degree), (try position(0, 0), try position(1, 0), degree),
            (try position(0, 179.5), try position(0, -179.5), degree), (try position(0, 180), try position(0, -180), 0),
            (try position(90, 0), try position(90, 123), 0), (try position(-90, -180), try position(-90, 12), 0),
            (try position(89.5, 0), try position(89.5, 180), degree),
            (try position(90, 0), try position(-90, 0), 180 * degree),
            (try position(0, 0), try position(0, 180), 180 * degree), (try position(60, 0), try position(60, 0), 0),
            // Berlin to New York: 6,385 km on the ellipsoid.
            (try position(52.52, 13.405), try position(40.7128, -74.006), 6_385_000),
        ] {
            let distance = from.distance(to: to)
            #expect(abs(distance - metres) <= max(1e-6, 0.006 * metres), "\(distance) for \(metres)")
            #expect(from.distance(to: to) == to.distance(to: from))
        }
        // A metre is a metre everywhere.
        for latitude in [0, 45, 80, 89.99] {
            let metre = 1 / (degree * cosine(latitude))
            let distance = try position(latitude, 180).distance(to: try position(latitude, -180 + metre))
            #expect(abs(distance - 1) < 1e-6)
        }
    }

    private func cosine(_ degrees: Double) -> Double {
        // By its series: the test has no mathematics but its own.
        let angle = degrees * .pi / 180
        var (term, sum) = (1.0, 1.0)
        for index in stride(from: 1.0, to: 40, by: 2) {
            term *= -angle * angle / (index * (index + 1))
            sum += term
        }
        return sum
    }

    @Test("inside and outside are certain only with all of the uncertainty")
    func certainty() throws {
        let region = try Region(try position(0, 180), radius: 1_000)
        // 111.2 metres are 0.001 degrees.
        #expect(region.side(of: try position(0, -179.995)) == .inside)
        #expect(region.side(of: try position(0, -179.995, 440)) == .inside)
        #expect(region.side(of: try position(0, -179.995, 450)) == nil)
        #expect(region.side(of: try position(0, 179.98)) == .outside)
        #expect(region.side(of: try position(0, 179.98, 1_200)) == .outside)
        #expect(region.side(of: try position(0, 179.98, 1_300)) == nil)
        #expect(region.side(of: try position(90, 0, .greatestFiniteMagnitude)) == nil)
        #expect(try Region(try position(90, 77), radius: 10).side(of: try position(90, -120)) == .inside)
    }

    @Test(
        "the first side that is known is entered, never left",
        arguments: [
            (Region.Crossing.enter, [true, false, true, false]), (.exit, [false, false, false, true]),
            (.both, [true, false, true, true]),
        ])
    func crossings(crossing: Region.Crossing, expected: [Bool]) throws {
        let region = try Region(try position(0, 0), radius: 100, on: crossing)
        let steps: [(Region.Side, Region.Side)] = [
            (.unknown, .inside), (.unknown, .outside), (.outside, .inside), (.inside, .outside),
        ]
        #expect(steps.map { region.isCrossed(from: $0.0, to: $0.1) } == expected)
        for side in Region.Side.allCases { #expect(!region.isCrossed(from: side, to: side)) }
    }
}
