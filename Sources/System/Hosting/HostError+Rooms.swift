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

extension HostError {
    /// The database was read, and can't be what was written.
    var isDamage: Bool {
        let name = detail["sqlite"]?.string
        return code == .store && [StoreError.Code.mismatch, .corrupt, .notADatabase].contains { $0.name == name }
    }
}

extension HostChannel {
    /// The host hears what became of a damaged database and of the pairings.
    package func report(_ rescue: RoleState.Rescued) {
        let (code, text) =
            switch rescue.pairings {
            case .kept: ("", "")
            case .restored: ("pairings_restored", "; the pairings were restored from their copy")
            case .lost: ("pairings_lost", "; the pairings are lost: pair again")
            }
        guard let damage = rescue.damage else {
            if !code.isEmpty { problem(code, "the database is new, or has lost its last changes\(text)") }
            return
        }
        let lost = damage.incomplete.isEmpty ? "" : ", not all of \(damage.incomplete.joined(separator: ", "))"
        problem(
            "database_damaged",
            "the database was damaged and was moved aside to \(damage.movedAside); a new one was created, with "
                + "\(damage.salvaged) rows that could be read\(lost)\(text)",
            [
                "movedAside": .string(damage.movedAside), "pairings": .string(rescue.pairings.rawValue),
                "restored": .integer(Int64(damage.salvaged)),
                "incomplete": .array(damage.incomplete.map(JSONValue.string)),
            ])
    }
}
