import CBellwire
import JSON

/// One run of `bellwire peers`.
final class PeersRun {
    /// The functions of a role's pairings.
    private struct Book: Sendable {
        let role: Handle.Role
        /// What the peers are.
        let kind: String
        let list: @Sendable (OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> bw_status
        let rename: @Sendable (OpaquePointer?, String, String) -> bw_status
        let unpair: @Sendable (OpaquePointer?, String) -> bw_status
        let clear: @Sendable (OpaquePointer?) -> bw_status
        let state: @Sendable (OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> bw_status

        static let device = Book(
            role: .device, kind: "desktop", list: { bw_pairing_list($0, $1) },
            rename: { bw_pairing_rename($0, $1, $2) },
            unpair: { bw_pairing_unpair($0, $1) }, clear: { bw_pairing_clear($0) },
            state: { bw_device_state($0, $1) })
        static let desktop = Book(
            role: .desktop, kind: "device", list: { bw_desktop_devices($0, $1) },
            rename: { bw_desktop_rename($0, $1, $2) }, unpair: { bw_desktop_unpair($0, $1) },
            clear: { bw_desktop_clear($0) }, state: { bw_desktop_state($0, $1) })
    }

    /// How long to wait for farewell messages to be sent, in milliseconds.
    private static let farewellTime: Int64 = 500

    private let arguments: Arguments
    private let json: Bool
    private let book: Book
    private let handle: Handle
    /// Whether it can be online: a desktop that no other program runs needs to know where.
    private let canConnect: Bool

    init(_ arguments: Arguments) throws(Failure) {
        let changes = [Command.peersNames, Command.peersRename, Command.peersUnpair, Command.peersClear]
        try arguments.exclude([Command.peersDevice, Command.peersDesktop], of: "peers")
        try arguments.exclude(changes, of: "peers")
        guard arguments.has(Command.peersRename) != arguments.operands.isEmpty else {
            throw Failure(
                .usage, "--rename PEER needs a NAME, and a NAME needs --rename PEER (see bellwire peers --help)")
        }
        let isDesktop = arguments.has(Command.peersDesktop)
        if arguments.isWritten(Command.peersRelay), !isDesktop {
            throw Failure(.usage, "--relay-url requires --desktop; a device knows its relays")
        }
        self.arguments = arguments
        json = arguments.has(.json)
        let book: Book = isDesktop ? .desktop : .device
        self.book = book
        let options: JSONValue = [
            "state_dir": arguments.text(Command.peersStateDirectory).map { .string($0) },
            "tls": arguments.text(.caFile).map { ["ca_file": .string($0)] },
            "relay_url": isDesktop ? arguments.text(Command.peersRelay).map { .string($0) } : nil,
            "yields": true,
        ]
        let handle = try Handle(book.role, options: options, verbose: arguments.has(.verbose))
        self.handle = handle
        let state = try result { book.state(handle.pointer, $0) }
        canConnect = !isDesktop || state["started"] == true || arguments.has(Command.peersRelay)
    }

    func run() throws(Failure) -> Exit {
        let peers = try list()
        if let wanted = arguments.text(Command.peersRename) {
            let peer = try PairedPeer.find(wanted, in: peers, kind: book.kind)
            try check(book.rename(handle.pointer, peer.id, arguments.operands[0]))
            let renamed = try list().first { $0.id == peer.id } ?? peer
            if json {
                Output.json(renamed.unconnected)
            } else {
                Output.line("Renamed \(peer.name) to \(renamed.name).")
            }
        } else if let wanted = arguments.text(Command.peersUnpair) {
            let peer = try PairedPeer.find(wanted, in: peers, kind: book.kind)
            try end([peer]) { () throws(Failure) in try check(book.unpair(handle.pointer, peer.id)) }
        } else if arguments.has(Command.peersClear) {
            try end(peers) { () throws(Failure) in try check(book.clear(handle.pointer)) }
        } else {
            show(peers)
        }
        return .done
    }

    private func list() throws(Failure) -> [PairedPeer] {
        try result { book.list(handle.pointer, $0) }.array?.compactMap { PairedPeer($0) } ?? []
    }

    // MARK: Unpairing

    private func end(_ peers: [PairedPeer], _ unpair: () throws(Failure) -> Void) throws(Failure) {
        let encrypted = peers.filter(\.isEncrypted)
        let reached = try reach(encrypted)
        try unpair()
        if !reached.isEmpty { _ = try handle.wait(until: Clock.now &+ PeersRun.farewellTime) }
        if json {
            Output.json(book.kind + "s", peers.map(\.unconnected))
        } else {
            if peers.isEmpty { Output.notice("no \(book.kind) is paired") }
            for peer in peers { Output.line("Unpaired \(peer.title).") }
        }
        for peer in encrypted where !reached.contains(peer.id) {
            let later = book.kind == "device" ? "it will be notified when this desktop runs" : "unpair there, too"
            Output.notice("\(peer.name) could not be notified; \(later)")
        }
    }

    /// Goes online if there are peers to notify.
    ///
    /// - Returns: the ids of the connected peers.
    private func reach(_ peers: [PairedPeer]) throws(Failure) -> Set<String> {
        guard canConnect, !peers.isEmpty else { return [] }
        let all = Set(peers.map(\.id))
        var online: Set<String> = []
        try handle.subscribe("connection.changed") { _, event in
            let isOnline = event["data"].map { Connection($0).isOnline } ?? false
            // A desktop has one connection for all its devices.
            let concerned = event["desktop"]?.string.map { all.intersection([$0]) } ?? all
            online = isOnline ? online.union(concerned) : online.subtracting(concerned)
        }
        try handle.start()
        online.formUnion(try known(all))
        let deadline = Clock.now &+ Int64(try arguments.milliseconds(Command.peersTimeout))
        if case .signal(let signal) = try handle.wait(
            until: deadline, waitingFor: Progress { "the unpaired peers" },
            isDone: { () throws(Failure) in online == all })
        {
            throw .interrupted(signal)
        }
        return online
    }

    /// Those of the peers that are connected already: nothing new may be told of them.
    private func known(_ peers: Set<String>) throws(Failure) -> Set<String> {
        let state = try result { book.state(handle.pointer, $0) }
        if book.kind == "device" { return Connection(desktop: state).isOnline ? peers : [] }
        let connections = (state["connection"]?.array ?? []).filter { Connection($0).isOnline }
        return peers.intersection(connections.compactMap { $0["desktop"]?.string })
    }

    // MARK: The table

    private func style(row: Int, _ column: Int, _ text: String) -> Style? {
        if row == 0 { return .bold }
        guard column == 2 else { return nil }
        return text == "yes" ? .green : .yellow
    }

    private func show(_ peers: [PairedPeer]) {
        if json {
            Output.json(book.kind + "s", peers.map(\.unconnected))
            return
        }
        if peers.isEmpty { return Output.notice("no \(book.kind) is paired") }
        if arguments.has(Command.peersNames) {
            for peer in peers { Output.line(peer.name) }
            return
        }
        var rows = [["NAME", "PLATFORM", "ENCRYPTED", "TO COMPARE", "LAST SEEN", "ID"]]
        rows += peers.map { peer in
            [
                peer.name, peer.platform, peer.isEncrypted ? "yes" : "no", peer.shortString ?? "-",
                Clock.text(ofEpochMilliseconds: peer.json["lastSeenAt"]?.integer ?? 0), Printable.line(peer.id),
            ]
        }
        for (index, row) in rows.enumerated() {
            let cells = row.enumerated().map { column, text in
                let width = column == row.count - 1 ? 0 : rows.map { $0[column].count }.max() ?? 0
                return style(row: index, column, text)?.of(Printable.padded(text, to: width))
                    ?? Printable.padded(text, to: width)
            }
            Output.line(cells.joined(separator: "  "))
        }
        for peer in peers where peer.json["iceExpired"]?.bool == true {
            Output.notice("\(peer.name): its data for direct connections has expired; pair again")
        }
        for notice in peers.compactMap(\.unconfirmedNotice) { Output.notice(notice) }
        for notice in peers.compactMap(\.sealNotice) { Output.notice(notice) }
        for notice in peers.compactMap(\.forgeryNotice) { Output.notice(notice) }
    }
}
