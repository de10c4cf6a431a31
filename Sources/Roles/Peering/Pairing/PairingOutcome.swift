package import Hosting
import JSON
import Pairing
package import Wire

// Results for a flow's waiters: the code when it is displayed, else the paired peer.

extension DeviceScanState {
    var outcome: Result<JSONValue, PairingFailure>? {
        switch self {
        case .scanning, .sending: nil
        case .success(let desktop): .success(.object(desktop.json))
        case .failed(let failure): .failure(failure)
        }
    }
}

extension DeviceShowState {
    var outcome: Result<JSONValue, PairingFailure>? {
        switch self {
        case .idle, .connecting, .confirming: nil
        case .displaying(let offer, let expiresAt):
            .success([
                "payload": .string(offer.serialized()), "code": .string(offer.code.digits),
                "expiresAt": .integer(expiresAt),
            ])
        case .completed(let desktop): .success(.object(desktop.json))
        case .expired: .failure(PairingFailure(.expired))
        case .failed(let failure): .failure(failure)
        }
    }
}

extension DeviceTypedCodeState {
    var outcome: Result<JSONValue, PairingFailure>? {
        switch self {
        case .entering, .submitting, .waiting: nil
        case .success(let desktop): .success(.object(desktop.json))
        case .failed(let failure): .failure(failure)
        }
    }
}

extension DesktopTypedCodeState {
    var outcome: Result<JSONValue, PairingFailure>? {
        switch self {
        case .displaying(let code, let expiresAt):
            .success(["code": .string(code.text), "expiresAt": .integer(expiresAt)])
        case .expired: .failure(PairingFailure(.expired))
        case .cancelled: .failure(PairingFailure(.cancelled))
        case .failed(let failure): .failure(failure)
        case .idle, .connecting, .acked, .paired: nil
        }
    }
}

extension HostError {
    package init(_ failure: PairingFailure) {
        let code: Code = failure.reason == .storeFailed ? .store : .pairing
        self.init(code, failure.message, detail: ["reason": .string(failure.reason.rawValue)])
    }
}
