package import JSON

/// The reason why a request was refused: a code as ntfy's, the HTTP status and words for people.
package struct DoorError: Error, Sendable, Equatable {
    /// The first three digits are the HTTP status.
    package let code: Int
    package let message: String

    package init(_ code: Int, _ message: String) { (self.code, self.message) = (code, message) }

    package var status: Int { code / 100 }

    /// `{"code","http","error"}`
    package var json: JSONValue {
        ["code": .integer(Int64(code)), "http": .integer(Int64(status)), "error": .string(message)]
    }

    static func invalid(_ code: Int, _ why: String) -> DoorError { DoorError(code, "invalid request: \(why)") }

    static let notHTTP = DoorError.malformed("the Host header is missing, malformed or there twice")

    static func malformed(_ why: String) -> DoorError { .invalid(40000, "it is not well-formed HTTP: \(why)") }

    static let delayUnreadable = DoorError.invalid(
        40004, "invalid delay; use a duration such as 30m, 2h or 1 day, or seconds since 1970")
    static let delayTooLarge = DoorError.invalid(40006, "the delay is longer than 366 days")
    static let priority = DoorError.invalid(40007, "the priority must be 1 to 5, or min, low, default, high, max")
    static let topic = DoorError.invalid(40009, "a topic must have 1 to 64 letters, digits, - and _")
    static let attachmentURL = DoorError.invalid(40013, "an attachment must be the https URL of an image")
    static let attachmentFile = DoorError.invalid(
        40014, "files are not accepted; send text as the body, without a file name, or attach the URL of an image")
    static let notJSON = DoorError.invalid(40017, "the body must be a JSON object with a topic")

    static func malformedJSON(_ why: String) -> DoorError { .invalid(40017, "the body must be a JSON object: \(why)") }
    static func member(_ name: String, _ type: String) -> DoorError {
        .invalid(40017, "the \(name) in the body must be \(type)")
    }

    static let actions = DoorError.invalid(
        40018, "actions must be a list of view actions with a label and a URL; others are not supported")
    static let actionParts = DoorError.invalid(
        40018, "an action has more parts than view, label and URL; put a part with commas or semicolons in quotes")
    static let iconURL = DoorError.invalid(40021, "the icon must be an http or https URL")
    static let unauthorized = DoorError(40101, "unauthorized")
    static let getNeedsToken = DoorError(40101, "unauthorized: publishing with GET needs a token")

    /// Behind a proxy on this machine, every client seems to be here.
    static func forwarded(_ header: String) -> DoorError {
        DoorError(
            40101, "unauthorized: the header \(header) says that a proxy passed this request on, so it needs a token")
    }

    static let forbidden = DoorError(40301, "forbidden: this token is for another group")
    static let foreignPage = DoorError(40302, "forbidden: web pages may not publish here")
    static let foreignHost = DoorError(40303, "forbidden: unknown host name; see bellwire desktop --http-name")
    static let noPage = DoorError(
        40401, "not found: only publishing is supported, with POST or PUT, or with GET at /TOPIC/publish")
    static func timedOut(_ milliseconds: UInt64) -> DoorError {
        DoorError(40801, "the body is incomplete, and no more of it came for \(milliseconds / 1_000) s")
    }

    static let tooManyTags = DoorError(41301, "there are more than \(Publication.listLimit) tags")

    static func tooLarge(_ limit: Int, isOfToken: Bool) -> DoorError {
        DoorError(
            41301, "the body is larger than the \(limit) bytes that \(isOfToken ? "this token allows" : "are allowed")")
    }
    static func tooLong(_ what: String, _ limit: Int) -> DoorError {
        DoorError(41301, "the \(what) is longer than \(limit) bytes")
    }

    static let multipart = DoorError(
        41501, "multipart bodies are not supported; send the message itself as the body (curl -d, not -F)")

    static func contentEncoding(_ name: String) -> DoorError {
        DoorError(41501, "the Content-Encoding \(name) is not supported; send the body uncompressed")
    }

    static let tooMany = DoorError(42901, "too many requests: this token's limit is reached; try again later")
    package static let tooManyDelayed = DoorError(
        42902,
        "too many delayed notifications wait already (100 of a token, 500 of all tokens); try again after some were sent"
    )
    package static let internalError = DoorError(50001, "the desktop could not store the notification")
    package static let unavailable = DoorError(50301, "the desktop is stopping")
    static let noTokens = DoorError(50302, "the desktop cannot read its tokens at the moment; try again later")

    static let markdown = DoorError.invalid(40000, "markdown is not supported; send plain text")

    /// A feature of ntfy's that isn't here.
    static func unsupported(_ what: String) -> DoorError { .invalid(40000, "\(what) is not supported") }
}
