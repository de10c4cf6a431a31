import Glibc

/// A moment to come, as people write it.
enum LaterMoment {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]

    /// In how long, such as `30m`; or as ``Moment/parse(_:)``, where a time without a date that is past means tomorrow.
    ///
    /// - Returns: milliseconds since 1970.
    static func parse(_ text: String, _ option: Option) throws(Failure) -> Int64 {
        if let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), 0..<(1 << 32) ~= count {
            return WallClock.milliseconds &+ count &* unit &* 1_000
        }
        guard let moment = Moment.parse(text) else {
            throw Failure(
                .usage, "--\(option.name): \"\(text)\" is not a time such as 30m, 18:00 or \"2030-01-31 18:00\"")
        }
        let isTimeOfDay = text.utf8.count <= 8 && text.contains(":")
        return isTimeOfDay && moment < WallClock.milliseconds ? moment &+ 86_400_000 : moment
    }
}
