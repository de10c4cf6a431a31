package import JSON

/// What either side says, in a seal, to end a pairing (protocol.md 4.8).
package enum Unpair {
    package static let type = "bellwire:unpair"
    package static let payload: JSONValue = ["type": .string(type), "payload": [:]]
}
