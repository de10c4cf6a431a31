import Calendar
package import JSON
import Wire

extension Trigger {
    /// A host's trigger; absent = now. Anything that is not as it must be is an error that names the field.
    package init(parsing value: JSONValue?) throws(AlertsError) {
        guard let value else {
            self = .now
            return
        }
        guard let object = value.object else {
            throw AlertsError("trigger: must be an object, not \(value.typeName)", field: "trigger")
        }
        switch object["type"]?.string {
        case "now":
            _ = try FieldReader(object, allowing: ["type"], in: Trigger.place)
            self = .now
        case "interval": self = try .interval(object)
        case "moment":
            let reader = try FieldReader(object, allowing: ["type", "at"], in: Trigger.place)
            guard let moment = try reader.integer("at", in: Trigger.moments) else {
                throw reader.fault("at", "is missing")
            }
            self = .moment(moment)
        case "calendar": self = try .calendar(object)
        case "region": self = try .region(object)
        default:
            throw AlertsError(
                "trigger.type: must be \"now\", \"interval\", \"moment\", \"calendar\" or \"region\"",
                field: "trigger.type")
        }
    }

    /// As it is read.
    package var json: JSONObject {
        switch self {
        case .now: return ["type": "now"]
        case .interval(let seconds, let repeats):
            return ["type": "interval", "seconds": .integer(seconds), "repeats": .bool(repeats)]
        case .moment(let moment): return ["type": "moment", "at": .integer(moment)]
        case .calendar(let match, let repeats):
            var json: JSONObject = ["type": "calendar"]
            for component in CalendarMatch.Component.allCases {
                json[component.rawValue] = match.components[component].map { .integer(Int64($0)) }
            }
            json["repeats"] = .bool(repeats)
            return json
        case .region(let region, let repeats):
            return [
                "type": "region", "latitude": .double(region.centre.latitude),
                "longitude": .double(region.centre.longitude), "radius_m": .double(region.radius),
                "on": .string(region.crossing.rawValue), "repeats": .bool(repeats),
            ]
        }
    }

    // MARK: Types

    private static let place = "trigger."
    /// Of the years 1 to 9999, as epoch milliseconds.
    private static let moments: ClosedRange<Int64> = -62_135_596_800_000...253_402_300_799_999
    private static let shortestRepeat: Int64 = 60

    private static func interval(_ object: JSONObject) throws(AlertsError) -> Trigger {
        let reader = try FieldReader(object, allowing: ["type", "seconds", "repeats"], in: place)
        let repeats = try reader.flag("repeats") ?? false
        let range = (repeats ? shortestRepeat : 1)...longestInterval
        guard let seconds = try reader.integer("seconds", in: range) else {
            throw reader.fault("seconds", "is missing")
        }
        return .interval(seconds: seconds, repeats: repeats)
    }

    private static func calendar(_ object: JSONObject) throws(AlertsError) -> Trigger {
        let all = CalendarMatch.Component.allCases
        let reader = try FieldReader(object, allowing: ["type", "repeats"] + all.map(\.rawValue), in: place)
        var components = CalendarMatch.Components()
        for component in all {
            let range = Int64(component.range.lowerBound)...Int64(component.range.upperBound)
            components[component] = try reader.integer(component.rawValue, in: range).map { Int($0) }
        }
        let repeats = try reader.flag("repeats") ?? false
        do throws(CalendarError) { return .calendar(try CalendarMatch(components), repeats: repeats) } catch {
            throw AlertsError("trigger: \(error.message)", field: "trigger")
        }
    }

    private static func region(_ object: JSONObject) throws(AlertsError) -> Trigger {
        let fields = ["type", "latitude", "longitude", "radius_m", "on", "repeats"]
        let reader = try FieldReader(object, allowing: fields, in: place)
        var numbers: [Double] = []
        for (name, range) in [("latitude", -90...90), ("longitude", -180...180), ("radius_m", Region.radii)] {
            guard let value = object[name] else { throw reader.fault(name, "is missing") }
            guard let number = value.double else { throw reader.fault(name, "must be a number, not \(value.typeName)") }
            guard range.contains(number) else {
                throw reader.fault(name, "must be from \(Int(range.lowerBound)) to \(Int(range.upperBound))")
            }
            numbers.append(number)
        }
        let crossing = try reader.text("on", 0...16).map(Region.Crossing.init(rawValue:)) ?? .enter
        guard let crossing else { throw reader.fault("on", "must be \"enter\", \"exit\" or \"both\"") }
        let centre = try Position(latitude: numbers[0], longitude: numbers[1])
        return .region(
            try Region(centre, radius: numbers[2], on: crossing), repeats: try reader.flag("repeats") ?? false)
    }
}
