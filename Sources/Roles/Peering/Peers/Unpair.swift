package import JSON

/// The payload with which either side ends a sealed pairing (WireSealing, "Unpairing").
package enum Unpair {
    package static let type = "bellwire:unpair"
    package static let payload: JSONValue = ["type": .string(type), "payload": [:]]
}
