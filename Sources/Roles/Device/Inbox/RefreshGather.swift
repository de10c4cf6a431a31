import Hosting
import JSON
import Transport
import Wire

/// The outcomes of a refresh of several desktops, as one.
@EventLoop
final class RefreshGather {
    private let count: Int
    private let then: Then
    private var results: [(PeerID, Result<HostReply, HostError>)] = []

    init(count: Int, _ then: @escaping Then) { (self.count, self.then) = (count, then) }

    func add(_ result: Result<HostReply, HostError>, of desktop: PeerID) {
        results.append((desktop, result))
        guard results.count == count else { return }
        guard count > 1 else { return then(result) }
        var sums: [String: Int64] = [:]
        var failed: [JSONValue] = []
        var error: HostError?
        for (desktop, result) in results {
            switch result {
            case .failure(let failure):
                error = error ?? failure
                failed.append([
                    "desktop": .string(desktop.text), "code": .string(failure.code.name),
                    "message": .string(failure.message),
                ])
            case .success(let reply):
                for member in reply.value.object?.members ?? [] {
                    sums[member.key, default: 0] &+= member.value.integer ?? 0
                }
            }
        }
        if let error, failed.count == count { return then(.failure(error)) }
        then(
            .success(
                HostReply([
                    "added": .integer(sums["added"] ?? 0), "updated": .integer(sums["updated"] ?? 0),
                    "dropped": .integer(sums["dropped"] ?? 0), "unread": .integer(sums["unread"] ?? 0),
                    "failed": failed.isEmpty ? nil : .array(failed),
                ])))
    }
}
