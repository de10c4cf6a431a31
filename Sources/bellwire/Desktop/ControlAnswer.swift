import JSON

/// The answer of a running desktop to a command: `{"result"}`, or `{"error","exit"}`.
enum ControlAnswer {
    static func success(_ result: JSONValue) -> JSONValue { ["result": result] }

    static func failure(_ failure: Failure) -> JSONValue {
        [
            "error": failure.error ?? ["message": .string(failure.message)], "message": .string(failure.message),
            "exit": .integer(Int64(failure.exit.code)),
        ]
    }

    static func result(_ answer: JSONValue) throws(Failure) -> JSONValue {
        if let result = answer["result"] { return result }
        let exit: Exit =
            switch answer["exit"]?.integer {
            case 2: .usage
            case 3: .offline
            case 4: .notPaired
            case 5: .inUse
            default: .failed
            }
        throw Failure(exit, answer["message"]?.string ?? "the running desktop gave no answer", error: answer["error"])
    }
}
