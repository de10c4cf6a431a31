import CBellwire
import JSON

/// One run of `bellwire revoke`.
struct RevokeRun {
    private let arguments: Arguments
    private let isDesktop: Bool
    private let json: Bool
    private let handle: Handle

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.exclude([Command.revokeList, Command.revokeRemove], of: "revoke")
        let hasOption = arguments.has(Command.revokeList) || arguments.has(Command.revokeRemove)
        guard arguments.operands.isEmpty == hasOption else {
            throw Failure(.usage, "missing PEER, --list or --remove ID (see bellwire revoke --help)")
        }
        self.arguments = arguments
        isDesktop = arguments.has(Command.revokeDesktop)
        json = arguments.has(.json)
        handle = try Handle(
            isDesktop ? .desktop : .device,
            options: [
                "state_dir": arguments.text(Command.revokeStateDirectory).map { .string($0) },
                "yields": true,
            ],
            verbose: arguments.has(.verbose))
    }

    func run() throws(Failure) -> Exit {
        if let wanted = arguments.text(Command.revokeRemove) {
            let keys = try keys()
            guard let key = keys.first(where: { $0["id"]?.string == wanted }) else {
                throw Failure(.notPaired, "no such key is refused (see bellwire revoke --list)")
            }
            try check(
                isDesktop ? bw_desktop_readmit(handle.pointer, wanted) : bw_device_readmit(handle.pointer, wanted))
            say(key, "Removed \(name(of: key)). It can be paired again.")
        } else if arguments.has(Command.revokeList) {
            list(try keys())
        } else if let wanted = arguments.operands.first {
            let id = try id(of: wanted)
            try check(isDesktop ? bw_desktop_revoke(handle.pointer, id) : bw_device_revoke(handle.pointer, id))
            if let key = try keys().first(where: { $0["id"]?.string == id }) {
                say(key, "Revoked \(name(of: key)). Nothing in its name is accepted any more.")
            }
        }
        return .done
    }

    private func keys() throws(Failure) -> [JSONValue] {
        try result {
            isDesktop ? bw_desktop_revoked(handle.pointer, $0) : bw_device_revoked(handle.pointer, $0)
        }.array ?? []
    }

    /// Of a paired peer; a whole did:key needs no pairing.
    private func id(of wanted: String) throws(Failure) -> String {
        let peers =
            try result {
                isDesktop ? bw_desktop_devices(handle.pointer, $0) : bw_pairing_list(handle.pointer, $0)
            }.array?.compactMap { PairedPeer($0) } ?? []
        do throws(Failure) {
            return try PairedPeer.find(wanted, in: peers, kind: isDesktop ? "device" : "desktop").id
        } catch {
            guard error.exit == .notPaired, wanted.hasPrefix("did:key:") else { throw error }
            return wanted
        }
    }

    private func name(of key: JSONValue) -> String {
        Printable.line([key["name"]?.string, key["id"]?.string].compactMap(\.self).first { !$0.isEmpty } ?? "")
    }

    private func say(_ key: JSONValue, _ text: String) { json ? Output.json(key) : Output.line(text) }

    private func list(_ keys: [JSONValue]) {
        if json { return Output.json("revoked", keys) }
        if keys.isEmpty { return Output.notice("no key is refused") }
        for key in keys {
            let moved = key["movedTo"]?.string.map { "moved to \($0)" } ?? "revoked"
            let parts = [
                Clock.text(ofEpochMilliseconds: key["at"]?.integer ?? 0), key["id"]?.string ?? "",
                key["name"]?.string ?? "", moved,
            ]
            Output.line(parts.filter { !$0.isEmpty }.map { Printable.line($0) }.joined(separator: "  "))
        }
    }
}
