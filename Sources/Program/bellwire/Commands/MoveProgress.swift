import JSON

/// What `bellwire rekey` prints while it waits: a line for each machine that has answered, and whom it waits for.
final class MoveProgress {
    private struct Peer: Equatable {
        let id: String
        let name: String
        let state: String
    }

    private let json: Bool
    private let line = LiveLine()
    private var last: JSONValue?
    private var peers: [Peer]?
    /// The machines of this step that are done, in all of its statuses.
    private var done: Set<String> = []
    private var all: Set<String> = []

    init(json: Bool) { self.json = json }

    /// The own move, as `bw_device_rekey_status()` has it. Call it as often as you like: only what is new is printed.
    func update(_ status: JSONValue) {
        guard status["peers"] != last?["peers"] || status["state"] != last?["state"] else { return }
        let isFirst = last?["state"] == nil || isSwitched(status) != last.map(isSwitched)
        last = status
        if json { return Output.json(["event": "rekey.changed", "data": status]) }
        let now = (status["peers"]?.array ?? []).compactMap { peer in
            peer["id"]?.string.map { id in
                Peer(
                    id: id, name: Printable.line(peer["name"]?.string ?? id), state: peer["state"]?.string ?? "waiting")
            }
        }
        if isFirst { (peers, done, all) = (nil, [], []) }
        show(isSwitched(status) ? told(now) : asked(now), of: now, isSwitched: isSwitched(status))
        peers = now
    }

    /// To be called before anything else is printed.
    func clear() { line.clear() }

    private func isSwitched(_ status: JSONValue) -> Bool { status["state"] == "switched" || status["state"] == "none" }

    // MARK: What is new

    /// In the first step all machines stay in the status.
    private func asked(_ now: [Peer]) -> [String] {
        let before = Dictionary((peers ?? []).map { ($0.id, $0.state) }) { first, _ in first }
        all = Set(now.map(\.id))
        done = Set(now.filter { $0.state == "approved" }.map(\.id))
        return now.filter { before[$0.id] != $0.state }.compactMap { peer in
            switch peer.state {
            case "approved": "\(peer.name) has accepted the new key"
            case "declined":
                "\(peer.name) has declined the new key: run bellwire rekey again to ask it again, or end its pairing"
            case "no_session": "\(peer.name) was paired after the move began, and is asked once it is connected"
            default: nil
            }
        }
    }

    /// In the second step a machine leaves the status when it knows the new key.
    private func told(_ now: [Peer]) -> [String] {
        let open = Set(now.map(\.id))
        let gone = (peers ?? []).filter { !open.contains($0.id) }
        all.formUnion(open)
        done.formUnion(gone.map(\.id))
        return gone.map { "\($0.name) knows the new key" }
    }

    // MARK: Printing

    private func show(_ news: [String], of now: [Peer], isSwitched: Bool) {
        let awaited = now.filter { isSwitched || $0.state == "waiting" || $0.state == "no_session" }.map(\.name)
        let count = "\(done.count) of \(all.count)"
        let waiting = awaited.isEmpty ? "" : "waiting for \(awaited.joined(separator: ", "))"
        line.clear()
        if line.isThere {
            for text in news { Output.line("\(text).") }
            if !waiting.isEmpty { line.show("\(count); \(waiting)") }
            return
        }
        for text in news.dropLast() { Output.line("\(text).") }
        let rest = [news.last.map { "\($0) (\(count))" } ?? "", waiting].filter { !$0.isEmpty }
        if let first = rest.first { Output.line(([first] + rest.dropFirst()).joined(separator: "; ") + ".") }
    }
}
