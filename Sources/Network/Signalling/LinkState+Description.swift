package import JSON
internal import Transport

extension LinkState {
    /// `{"url","state","problem"?}`, for hosts.
    package func json(of url: String) -> JSONObject {
        ["url": .string(url), "state": .string(name), "problem": problem.map(JSONValue.string)]
    }

    /// One line for a log.
    package func summary(of url: String) -> String {
        let url = WebSocketURL.loggable(url)
        return switch self {
        case .online: "registered at \(url)"
        case .offline(let reason): "no connection to \(url): \(reason.message)"
        case .connecting, .registering: "connecting to \(url)"
        }
    }
}
