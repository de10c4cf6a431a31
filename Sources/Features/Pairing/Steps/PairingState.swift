package import JSON
package import Wire

/// The state of a pairing flow, for hosts (WirePairing, "States and reasons").
package enum PairingState: Sendable, Equatable {
    case deviceScan(DeviceScanState)
    case deviceShow(DeviceShowState)
    case deviceCode(DeviceTypedCodeState)
    case desktopScan(DesktopScanState)
    case desktopOffer(DesktopOfferState)
    case desktopCode(DesktopTypedCodeState)

    /// `pairing.changed`: `{"flow","state",…}`.
    package var data: JSONObject {
        switch self {
        case .deviceScan(let state): state.data
        case .deviceShow(let state): state.data
        case .deviceCode(let state): state.data
        case .desktopScan(let state): state.data
        case .desktopOffer(let state): state.data
        case .desktopCode(let state): state.data
        }
    }

    /// The result for the program that waits for the flow: the code when it is displayed, else the paired peer; `nil` = it
    /// goes on waiting.
    package var outcome: Result<JSONValue, PairingFailure>? {
        switch self {
        case .deviceScan(let state): state.outcome
        case .deviceShow(let state): state.outcome
        case .deviceCode(let state): state.outcome
        case .desktopCode(let state): state.outcome
        // What a desktop scans or offers, its program hears at once.
        case .desktopScan, .desktopOffer: nil
        }
    }
}
