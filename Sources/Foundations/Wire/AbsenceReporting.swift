/// Whether a relay reports that the target of a message is absent (WireDeployedRelays, "Probes").
package enum AbsenceReporting: Sendable, Equatable {
    /// Not known yet: this registration is new.
    case unknown
    /// It answers with `peer-offline`.
    case reports
    /// It stays silent.
    case silent
}
