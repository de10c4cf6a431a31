package import Identity
import JSON
package import Store
package import Transport

extension HostError {
    package init(_ error: StoreError) {
        switch error.code {
        case .closed: self.init(.closed, "the handle was closed")
        case .queueFull: self.init(.limit, error.message)
        default: self.init(.store, error.message, detail: ["sqlite": .string(error.code.name)])
        }
    }

    package init(_ error: IdentityError) {
        let code: Code = error.code == .keyFileExposed ? .denied : .io
        self.init(code, error.message, detail: ["reason": .string(error.code.name)])
    }

    package init(_ error: TransportError) {
        let code: Code = error.code == .invalidURL ? .invalid : .network
        self.init(code, error.message, detail: ["reason": .string(error.code.name)])
    }
}

extension HostChannel {
    /// The host hears where its damaged database is.
    package func problem(movedAside path: String) {
        problem(
            "database_damaged",
            "the database was damaged and was moved aside to \(path); a new one was created, so you may have to pair again"
        )
    }
}
