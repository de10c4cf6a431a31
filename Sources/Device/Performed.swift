import Hosting
import JSON
import Wire

/// What came of a command.
///
/// ``DeviceCore/perform(_:desktop:timeout:keepsUncertain:then:)`` gives exactly one for each command.
enum Performed: Sendable {
    /// The desktop's result. Its `success` may be false.
    case answered(JSONObject)
    /// It waits in the offline queue under this id; ``DeviceCore/queueEnded`` tells its end.
    case queued(RequestID)
    /// Not carried out, and it will not be: the desktop refuses it, does not know it, gave an answer that cannot be read, or
    /// is not there and the command is none that waits.
    case refused(HostError)
    /// It was sent, and no answer came: the desktop may have carried it out. Where it was to be kept it is in the queue
    /// under this id, and ``DeviceCore/queueEnded`` tells its end.
    case uncertain(RequestID, HostError)

    /// As the host of the device gets it.
    var reply: Result<Device.Reply, HostError> {
        switch self {
        case .answered(let result): .success(Device.Reply(json: JSONValue.object(result).serialized(), isQueued: false))
        case .queued(let id):
            .success(
                Device.Reply(
                    json: JSONValue.object(["queued": true, "id": .string(id.text)]).serialized(), isQueued: true))
        case .refused(let error), .uncertain(_, let error): .failure(error)
        }
    }
}

extension Device {
    /// What a command gives its host.
    package struct Reply: Sendable {
        package let json: String
        /// It was not carried out yet; `json` is `{"queued":true,"id"}`.
        package let isQueued: Bool
    }
}

/// How one sending of a command ended.
enum CallEnd: Sendable {
    case answered(JSONObject)
    /// The desktop's own refusal.
    case refused(Refusal)
    /// There was an answer, and it cannot be read.
    case undecodable(HostError)
    /// It did not leave this machine.
    case notSent(HostError)
    /// The relay says that the desktop is not there.
    case absent(HostError)
    /// It was sent, and then the connection ended, or the time.
    case unanswered(HostError)
    /// The device was stopped, suspended or closed, or the desktop unpaired.
    case ended(HostError)

    struct Refusal: Sendable {
        let error: HostError
        /// It may be allowed later: after so many milliseconds.
        let retryAfter: Int64?
        /// Something went wrong there; it may go well later.
        let isPassing: Bool
        /// The desktop has no such skill.
        let lacksSkill: Bool
    }
}
