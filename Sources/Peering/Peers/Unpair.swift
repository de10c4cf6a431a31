package import JSON

/// The payload with which either side ends a sealed pairing (protocol.md 4.8).
package enum Unpair {
    package static let type = "bellwire:unpair"
    package static let payload: JSONValue = ["type": .string(type), "payload": [:]]
}
