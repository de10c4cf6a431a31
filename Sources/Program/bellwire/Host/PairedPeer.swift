import JSON

/// A row of `bw_pairing_list` or `bw_desktop_devices`.
struct PairedPeer {
    let id: String
    let name: String
    let json: JSONValue

    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string else { return nil }
        self.id = id
        let name = Printable.line(json["name"]?.string ?? "")
        self.name = name.isEmpty ? Printable.line(id) : name
        self.json = json
    }

    /// As a command that has no connection shows it: whether the peer is online is unknown.
    var unconnected: JSONValue {
        guard var object = json.object, object["online"] != nil else { return json }
        object["online"] = .null
        return .object(object)
    }

    var platform: String { Printable.line(json["platform"]?.string ?? "") }

    /// Name and platform, for messages.
    var title: String { platform.isEmpty ? name : "\(name) (\(platform))" }

    /// Whether the pairing is end-to-end encrypted.
    var isEncrypted: Bool { json["secure"]?.bool == true }

    /// What a list says about the sessions of an encrypted pairing, if it isn't that all is well.
    var sealNotice: String? {
        guard let seal = json["seal"] else { return nil }
        switch seal["problem"]?.string {
        case "handshake_refused": return "\(name) answers with different keys than those of the pairing; pair again"
        case "no_session": return "\(name) does not answer handshakes: it may be off, or a relay drops them"
        case "not_paired":
            return "\(name) says that it is not paired with this side any more; unpair it and pair again"
        default: break
        }
        guard seal["psk"]?.bool != true else { return nil }
        return "\(name): its sessions are not protected by a secret from the pairing; update both sides and pair again"
    }

    /// Of a desktop that has sent nothing since it was paired.
    var unconfirmedNotice: String? {
        guard json["unconfirmed"]?.bool == true else { return nil }
        return
            "\(name) has not confirmed the pairing: it may be off, or the code may be wrong. Its first message "
            + "confirms the pairing; bellwire peers --unpair removes it"
    }

    /// Of an unencrypted peer in whose name anyone can send.
    var forgeryNotice: String? {
        guard !isEncrypted, json["forgeable"]?.bool == true else { return nil }
        return
            "a relay lets anyone who knows both ids send in the name of \(name). Pair over another relay, such as "
            + "bellwire relay"
    }

    /// The short authentication string of an encrypted pairing: six digits and two words.
    var shortString: String? {
        guard let digits = json["sas"]?["digits"]?.string else { return nil }
        let words = json["sas"]?["words"]?.array?.compactMap(\.string) ?? []
        return Printable.line(
            ([digits] + (words.isEmpty ? [] : [words.joined(separator: " ")])).joined(separator: ", "))
    }

    /// The lines to print after a pairing.
    ///
    /// - Parameter other: the peer's role: `desktop` or `device`.
    func pairedLines(other: String) -> [String] {
        let seal =
            isEncrypted
            ? shortString.map {
                """
                End-to-end encrypted. Compare with the \(other): \($0). If they differ, unpair: someone is \
                intercepting the connection.
                """
            } ?? """
                End-to-end encrypted. There are no digits to compare: the \(other) doesn't support them. To rule out \
                that someone intercepts the connection, update it and pair again.
                """
            : "Not encrypted: its identity is not proven, and the relay can read all messages."
        let isConfirmed = json["unconfirmed"]?.bool != true
        return [isConfirmed ? "Paired with \(title)." : "Paired with \(title), but not confirmed.", seal]
    }
}

extension PairedPeer {
    /// The only peer with this id, this name, or an id that begins with it.
    ///
    /// - Parameter kind: their role: `desktop` or `device`.
    static func find(_ wanted: String, in all: [PairedPeer], kind: String) throws(Failure) -> PairedPeer {
        let found =
            all.filter { $0.id == wanted }.nonEmpty ?? all.filter { $0.name == wanted }.nonEmpty
            ?? all.filter { !wanted.isEmpty && $0.id.hasPrefix(wanted) }
        guard let only = found.first else {
            let known = all.isEmpty ? "none is paired" : "paired: \(names(of: all))"
            throw Failure(.notPaired, "no paired \(kind) matches \"\(wanted)\"; \(known)")
        }
        guard found.count == 1 else {
            throw Failure(.usage, "\"\(wanted)\" matches several \(kind)s: \(names(of: found))")
        }
        return only
    }

    static func names(of peers: [PairedPeer]) -> String {
        peers.map { "\($0.name) (\($0.id.prefix(20))…)" }.joined(separator: ", ")
    }
}

extension Array {
    fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}
