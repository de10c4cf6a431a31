import CBellwire
import JSON

/// A peer that asks to move to a new key: a question of `bw_device_rekey_status()`, or the data of `rekey.changed`.
struct KeyQuestion {
    let peer: PairedPeer
    let newID: String

    init?(_ json: JSONValue) {
        guard let peer = PairedPeer(json), let newID = json["newId"]?.string else { return nil }
        (self.peer, self.newID) = (peer, newID)
    }

    /// The open questions of a status.
    static func all(in status: JSONValue) -> [KeyQuestion] {
        status["questions"]?.array?.compactMap { KeyQuestion($0) } ?? []
    }

    /// The question of the peer that `word` names; `nil` = of the only peer that asks.
    static func find(_ word: String?, in status: JSONValue, kind: String) throws(Failure) -> KeyQuestion {
        let all = all(in: status)
        guard let first = all.first else { throw Failure(.notPaired, "no \(kind) asks to move to a new key") }
        guard let word else {
            guard all.count == 1 else {
                let names = PairedPeer.names(of: all.map { $0.peer })
                throw Failure(.usage, "several \(kind)s ask to move to new keys; name one: \(names)")
            }
            return first
        }
        let peer = try PairedPeer.find(word, in: all.map { $0.peer }, kind: kind)
        return all.first { $0.peer.id == peer.id } ?? first
    }

    /// What to tell the user.
    ///
    /// - Parameters:
    ///   - accept: the command that accepts the key.
    ///   - decline: the command that declines it.
    func notice(accept: String, decline: String) -> String {
        "\(peer.name) asks to move to the new key \(Printable.line(newID)). If its user started this and sees the same key "
            + "there, run: \(accept). Otherwise run: \(decline)"
    }

    /// Tells the user of a device about desktops that ask, from now on and already.
    static func follow(_ device: Handle) throws(Failure) {
        try device.subscribe("rekey.changed") { _, event in
            if let data = event["data"], data["state"] == "confirming" { KeyQuestion(data)?.ask() }
        }
        for question in all(in: try result { bw_device_rekey_status(device.pointer, $0) }) { question.ask() }
    }

    private func ask() {
        let id = Printable.line(peer.id)
        Output.notice(notice(accept: "bellwire rekey --accept \(id)", decline: "bellwire rekey --decline \(id)"))
    }

    func answered(_ accept: Bool) -> String { "\(accept ? "Accepted" : "Declined") the new key of \(peer.name)." }
}
