import Hosting
import JSON
import Pairing
import Signalling
import Transport
import Wire

// Flow A: the desktop scans what a device shows (protocol.md 2 and 4.3).
extension DesktopCore {
    /// `then` gets who shows the code; the rest is told by `pairing.changed`.
    func scan(_ text: String, _ then: Then) {
        do throws(HostError) { try start() } catch { return then(.failure(error)) }
        let actions = scanning.scan(
            text, identity: identity, legacy: options.legacyPairing,
            securePeers: Set(devices.filter(\.isSecure).map(\.did)), now: .now)
        let outcome: Result<String, HostError>
        switch scanning.reported {
        case .failed(let failure): outcome = .failure(HostError(failure))
        case .expired: outcome = .failure(HostError(PairingFailure(.expired)))
        case .idle, .cancelled: outcome = .failure(HostError(PairingFailure(.cancelled)))
        case .scanned, .confirming, .sending, .paired:
            outcome = .success((scanning.reported.data["device"] ?? .null).serialized())
        }
        perform(actions)
        then(outcome)
    }

    func scanTimedOut() { perform(scanning.timedOut(now: .now)) }

    func perform(_ actions: [DesktopScanAction]) {
        for action in actions {
            switch action {
            case .startTimer(let delay): scanTimer.start(after: delay)
            case .stopTimer: scanTimer.stop()
            case .sendConfirmation(let confirmation, let peer, let sealed):
                var relays = 0
                for link in links.values {
                    if send(confirmation.json, to: peer, sealed: sealed, over: link).isWritten { relays += 1 }
                }
                perform(scanning.confirmationSent(toRelays: relays, now: .now))
            case .repeatConfirmation(let confirmation, let peer): greet(peer, confirmation)
            case .withdraw(let peer): withdraw(peer)
            case .store(let device): store(device, for: .scan)
            case .report(let state): report(state.data)
            }
        }
    }
}
