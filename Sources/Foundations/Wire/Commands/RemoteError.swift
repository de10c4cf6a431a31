package import JSON

/// A peer's refusal: `error` of a response, as a text, or as `{code,message,data}`.
package struct RemoteError: Error, Sendable, Equatable {
    /// `nil` where the peer sent a text alone.
    package let code: ErrorCode?
    package let message: String
    package let data: JSONValue?

    package init(_ code: ErrorCode?, _ message: String, data: JSONValue? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }

    /// `nil` for a JSON null: deployed desktops send one beside a result.
    init?(decoding value: JSONValue) {
        switch value {
        case .null: return nil
        case .string(let text): self.init(nil, text)
        case .object(let object):
            let message = object["message"]?.string ?? ""
            self.init((object["code"]?.integer).map(ErrorCode.init), message, data: object["data"])
        case .integer, .double: self.init(value.integer.map(ErrorCode.init), "")
        case .bool, .array: self.init(nil, "")
        }
    }

    var encoded: JSONValue {
        ["code": .integer((code ?? .internalError).number), "message": .string(message), "data": data]
    }
}

extension RemoteError {
    /// The refusal of a request that came after its `expiresAt`, which it names (WireMessages, "Repeated and late
    /// commands").
    package static func expired(_ expiresAt: EpochMilliseconds) -> RemoteError {
        RemoteError(
            .timeout, "the command arrived after its deadline (check both clocks)",
            data: ["reason": "expired", "expiresAt": .integer(expiresAt)])
    }

    /// The `expiresAt` of a request that came too late; `nil` for any other refusal.
    package var expiredAt: EpochMilliseconds? {
        data?["reason"] == "expired" ? data?["expiresAt"]?.integer : nil
    }

    /// When to try again, in milliseconds, for a command that came too soon after others.
    package var retryAfter: Int64? { data?["retryAfterMs"]?.integer }
}
