import JSON
package import Hosting
package import Wire

extension HostError {
    package init(_ failure: PairingFailure) {
        let code: Code = failure.reason == .storeFailed ? .store : .pairing
        self.init(code, failure.message, detail: ["reason": .string(failure.reason.rawValue)])
    }
}
