package import JSON

extension RelayConnectionState {
    /// `{"url","state","problem"?}`, for hosts.
    package func json(of url: String) -> JSONValue {
        ["url": .string(url), "state": .string(name), "problem": problem.map(JSONValue.string)]
    }

    /// One line for a log.
    package func summary(of url: String) -> String {
        switch self {
        case .online: "registered at \(url)"
        case .offline(let reason): "no connection to \(url): \(reason.message)"
        case .connecting, .registering: "connecting to \(url)"
        }
    }

    private var name: String {
        switch self {
        case .offline: "offline"
        case .connecting: "connecting"
        case .registering: "registering"
        case .online: "online"
        }
    }

    /// What is wrong, for people; `nil` while nothing is.
    package var problem: String? {
        switch self {
        case .offline(let reason) where reason.code != .stopped: reason.message
        case .offline, .connecting, .registering, .online: nil
        }
    }
}
