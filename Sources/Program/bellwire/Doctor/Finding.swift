import JSON

/// The result of one check of `bellwire doctor`.
struct Finding: Sendable, Equatable {
    enum State: String, Sendable {
        case ok, warn, fail
    }

    /// What was checked.
    let check: String
    let state: State
    let message: String
    /// What to do about it; empty if it is well.
    let advice: String

    static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, state: .ok, message: message, advice: "")
    }

    static func warn(_ check: String, _ message: String, _ advice: String) -> Finding {
        Finding(check: check, state: .warn, message: message, advice: advice)
    }

    static func fail(_ check: String, _ message: String, _ advice: String) -> Finding {
        Finding(check: check, state: .fail, message: message, advice: advice)
    }

    var json: JSONValue {
        [
            "check": .string(check), "state": .string(state.rawValue), "message": .string(message),
            "advice": advice.isEmpty ? nil : .string(advice),
        ]
    }

    func show() {
        let style: Style =
            switch state {
            case .ok: .green
            case .warn: .yellow
            case .fail: .red
            }
        let word = style.of(Printable.padded(state.rawValue, to: 4))
        Output.line("\(word)  \(check): \(Printable.line(Word.shown(message)))")
        if !advice.isEmpty { Output.line("      \(Printable.line(Word.shown(advice)))") }
    }
}
