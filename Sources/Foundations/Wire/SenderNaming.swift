/// Whether the relay or the sender writes `from` into a message (WireDeployedRelays, "Forged senders").
package enum SenderNaming: Sendable, Equatable {
    /// Not known yet: this registration is new.
    case unknown
    /// The relay does, as far as probes have shown.
    case byRelay
    /// The sender does: anyone can send in another peer's name.
    case bySender

    /// Whether anyone can send in another peer's name, for hosts; `nil` = not known yet.
    package var isForgeable: Bool? {
        switch self {
        case .unknown: nil
        case .byRelay: false
        case .bySender: true
        }
    }
}
