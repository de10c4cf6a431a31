import JSON
import Testing

@testable import Wire

/// A value of each JSON type.
let oneOfEachType: [JSONValue] = [.null, true, 7, 7.5, "text", [], [:]]

/// What a field that is missing, or of a wrong type, does to a payload.
enum Demand {
    /// The payload is refused with this reason unless the field is of one of these types.
    case required(PairingReason, (JSONValue) -> Bool)
    /// The payload is read all the same.
    case optional
}

let isText: @Sendable (JSONValue) -> Bool = { $0.string != nil }
let isNumber: @Sendable (JSONValue) -> Bool = { $0.integer != nil }

/// Sets or removes the member at a path.
func setting(_ path: [String], of object: JSONObject, to value: JSONValue?) -> JSONObject {
    var object = object
    guard let key = path.first else { return object }
    if path.count == 1 {
        object[key] = value
    } else {
        object[key] = .object(setting(Array(path.dropFirst()), of: object[key]?.object ?? [:], to: value))
    }
    return object
}

/// Tries each field missing and of each type, and compares with what is demanded of it.
func check(
    _ payload: JSONObject, _ demands: [([String], Demand)], read: (JSONObject) throws(PairingFailure) -> Void
) {
    func reason(_ object: JSONObject) -> PairingReason? {
        do throws(PairingFailure) { try read(object) } catch { return error.reason }
        return nil
    }
    #expect(reason(payload) == nil)
    for (path, demand) in demands {
        for value in [nil] + oneOfEachType.map(Optional.some) {
            let changed = setting(path, of: payload, to: value)
            let found = reason(changed)
            switch demand {
            case .optional: #expect(found == nil, "\(path) = \(value?.serialized() ?? "missing")")
            case .required(let reason, let fits):
                let isRight = value.map(fits) ?? false
                // A text of the right type may still be refused for what it says, with the same reason.
                #expect(
                    isRight ? found == nil || found == reason : found == reason,
                    "\(path) = \(value?.serialized() ?? "missing")")
            }
        }
    }
}
