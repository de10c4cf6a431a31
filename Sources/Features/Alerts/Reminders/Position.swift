import Glibc

/// A place on the earth in degrees, and how uncertain it is in metres.
package struct Position: Sendable, Equatable {
    package let latitude: Double
    package let longitude: Double
    package let accuracy: Double

    /// Fails for coordinates out of range.
    package init(latitude: Double, longitude: Double, accuracy: Double = 0) throws(AlertsError) {
        // Every comparison with NaN is false.
        guard abs(latitude) <= 90 else { throw AlertsError("latitude: must be from -90 to 90", field: "latitude") }
        guard abs(longitude) <= 180 else {
            throw AlertsError("longitude: must be from -180 to 180", field: "longitude")
        }
        guard accuracy >= 0, accuracy.isFinite else {
            throw AlertsError("accuracy_m: must be 0 or more metres", field: "accuracy_m")
        }
        (self.latitude, self.longitude, self.accuracy) = (latitude, longitude, accuracy)
    }

    /// Metres, along the earth as a sphere: right to within 0.6 %.
    package func distance(to other: Position) -> Double {
        // The haversine formula: exact for small distances, and the poles and 180 degrees are no special places for it.
        let radians = Double.pi / 180
        let height = sin((other.latitude - latitude) / 2 * radians)
        let width = sin((other.longitude - longitude) / 2 * radians)
        let share = height * height + cos(latitude * radians) * cos(other.latitude * radians) * width * width
        return 2 * Self.earthRadius * asin(min(1, share.squareRoot()))
    }

    private static let earthRadius = 6_371_008.8
}
