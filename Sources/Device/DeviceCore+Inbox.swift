import Hosting
import Inbox
import JSON
import Notifications
import OfflineQueue
import Pairing
import Signalling
import Store
import Transport
import Wire

// The inbox: read out of the store at once, changed at once, and put back when the desktop refuses.
extension DeviceCore {
    func load(_ query: Device.InboxQuery, _ then: @escaping Then) {
        store { (connection) throws(StoreError) -> (Inbox.Page, Int64)? in
            let inbox = Inbox(connection)
            guard let page = try inbox.page(query.query, of: query.desktop) else { return nil }
            guard let desktop = query.desktop else { return (page, try inbox.unreadCount()) }
            return (page, try inbox.unreadCount(of: desktop))
        } then: { core, result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success(nil):
                then(
                    .failure(
                        HostError(.invalid, "before: names no place in the inbox", detail: ["field": "before"])))
            case .success((let page, let unread)?):
                let isLoading = query.desktop.map { core.desk.runs[$0] != nil } ?? !core.desk.runs.isEmpty
                let object: JSONObject = [
                    "notifications": .array(page.items.map { .object($0.json) }), "total": .integer(page.total),
                    "unread": .integer(unread), "next": page.next.map(JSONValue.string), "loading": .bool(isLoading),
                    "incomplete": page.isIncomplete ? true : nil,
                ]
                then(.success(JSONValue.object(object).serialized()))
            }
        }
    }

    /// As `bw_inbox_state` gives it.
    func describeInbox(_ then: @escaping Then) {
        let ids = desktops.map(\.id)
        store { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            var parts: [(unread: Int64, refreshedAt: EpochMilliseconds?)] = []
            for id in ids { parts.append((try inbox.unreadCount(of: id), try inbox.refreshedAt(of: id))) }
            return (try inbox.unreadCount(), parts)
        } then: { core, result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success((let unread, let parts)):
                let states = zip(ids, parts).map { id, part in
                    var state = core.inboxState(of: id)
                    state["desktop"] = .string(id.text)
                    state["unread"] = .integer(part.unread)
                    state["refreshedAt"] = part.refreshedAt.map(JSONValue.integer)
                    return JSONValue.object(state)
                }
                let object: JSONObject = [
                    "unread": .integer(unread), "loading": .bool(!core.desk.runs.isEmpty), "desktops": .array(states),
                ]
                then(.success(JSONValue.object(object).serialized()))
            }
        }
    }

    /// `{"loading","error"?,"unsupported"?}`
    private func inboxState(of desktop: PeerID) -> JSONObject {
        [
            "loading": .bool(desk.runs[desktop] != nil),
            "error": desk.errors[desktop].map { ["code": .string($0.code.name), "message": .string($0.message)] },
            "unsupported": withoutSkill.contains(desktop) ? true : nil,
        ]
    }

    /// The host hears that a desktop's part of the inbox is another one.
    ///
    /// - Parameter isArrival: a push has come, and nothing else is another.
    func tellInbox(of desktop: PeerID, unread: Int64?, isArrival: Bool = false) {
        indexing.wrote()
        channel.post(HostEvent(.inboxChanged, desktop: desktop.text, data: inboxState(of: desktop)))
        if !isArrival, showsAlerts { alerts.inboxChanged() }
        if let unread { tell(unread: unread) }
    }

    func tell(unread: Int64) {
        guard desk.toldUnread != unread else { return }
        desk.toldUnread = unread
        channel.post(HostEvent(.unreadChanged, data: ["unread": .integer(unread)]))
        if showsAlerts { alerts.setBadge(unread) }
    }

    /// What went wrong with a desktop's part of the inbox stays readable until something goes well.
    func noteInbox(_ error: HostError?, of desktop: PeerID) {
        if let error, error.code == .closed { return }
        desk.errors[desktop] = error
    }

    // MARK: Changes

    func changeInbox(
        _ request: Device.InboxRequest, desktop name: String?, timeout: Int64,
        _ then: @escaping @Sendable (Result<Device.Reply, HostError>) -> Void
    ) {
        let place: InboxPlace
        switch pick(inbox: name) {
        case .failure(let error): return then(.failure(error))
        case .success(let picked): place = picked
        }
        let peer = place.id
        if let desktop = place.desktop, withoutSkill.contains(desktop.id) {
            noteInbox(.noSkill, of: peer)
            return then(.failure(.noSkill))
        }
        let (kind, id) = (request.kind, request.id)
        let isUnpaired = place.desktop == nil
        let moment = EpochMilliseconds.now
        store { (connection) throws(StoreError) -> BegunChange? in
            let inbox = Inbox(connection)
            if isUnpaired, try inbox.newestRow(of: peer) == 0 { return nil }
            guard let number = try inbox.begin(kind, id, of: peer, at: moment) else { return nil }
            // There is nobody to ask any more.
            if isUnpaired { try inbox.end(number, .done) }
            return BegunChange(number: number, newest: try inbox.newestRow(), unread: try inbox.unreadCount())
        } then: { core, result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success(nil):
                then(.failure(HostError(.notFound, "the inbox has no such notification; bw_inbox_load() has them")))
            case .success(let begun?):
                core.tellInbox(of: peer, unread: begun.unread)
                guard let desktop = core.desktops.first(where: { $0.id == peer }) else {
                    let object: JSONObject = ["success": true, "unread": .integer(begun.unread)]
                    return then(
                        .success(Device.Reply(json: JSONValue.object(object).serialized(), isQueued: false)))
                }
                core.send(request, begun, to: desktop, timeout: timeout, then)
            }
        }
    }

    private struct BegunChange: Sendable {
        let number: Int64
        let newest: Int64
        let unread: Int64
    }

    private func send(
        _ request: Device.InboxRequest, _ begun: BegunChange, to desktop: PairedDesktop, timeout: Int64,
        _ then: @escaping @Sendable (Result<Device.Reply, HostError>) -> Void
    ) {
        // A deployed desktop knows no ids: everything, a second time, would be more than the user saw.
        let keeps = desktop.isSecure || request.id != nil
        perform(request.command, desktop: desktop, timeout: timeout, keepsUncertain: keeps) { core, performed in
            let ending: InboxChange.Ending
            var error: HostError?
            var queuedAs: RequestID?
            switch performed {
            case .answered(let result):
                error = HostError(refusedBy: result)
                ending = error == nil ? .done : .refused
            case .queued(let id): (ending, queuedAs) = (.queued, id)
            case .refused(let refusal): (ending, error) = (.refused, refusal)
            case .uncertain(let id, let lost):
                let isKept = core.queue[id] != nil
                (ending, error) = (.lost(isKept: isKept), lost)
                if isKept { queuedAs = id }
            }
            core.noteInbox(error, of: desktop.id)
            core.overtakeRefresh(of: desktop.id)
            core.end(begun, ending, of: desktop.id, queuedAs: queuedAs) { core, unread, hasNewer in
                // What came meanwhile may be marked or gone as well.
                if ending == .done, request.kind.isOfAll, hasNewer { core.refreshUnasked(desktop) }
                if let error { return then(.failure(error)) }
                guard case .answered(var result) = performed else { return then(performed.reply) }
                result["unread"] = unread.map(JSONValue.integer)
                then(Performed.answered(result).reply)
            }
        }
    }

    private func end(
        _ begun: BegunChange, _ ending: InboxChange.Ending, of peer: PeerID, queuedAs request: RequestID?,
        then: @escaping @Sendable @EventLoop (DeviceCore, _ unread: Int64?, _ hasNewer: Bool) -> Void
    ) {
        store { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            if let request { try inbox.note(request, of: begun.number) }
            try inbox.end(begun.number, ending)
            return (try inbox.unreadCount(), try inbox.newestRow(of: peer) > begun.newest)
        } then: { core, result in
            switch result {
            case .success((let unread, let hasNewer)):
                core.tellInbox(of: peer, unread: unread)
                then(core, unread, hasNewer)
            case .failure(let failure):
                if failure.code != .closed {
                    core.channel.problem("store_failed", "the inbox could not be changed: \(failure.message)")
                }
                then(core, nil, false)
            }
        }
    }

    /// A queued command has ended: the change that it stands for is over. What was queued by a method is learnt from.
    func ended(_ end: QueueEnd) {
        let command = end.command
        guard let method = NotificationMethod(name: command.method) else { return }
        let id = command.id
        let ending: InboxChange.Ending
        switch end.outcome {
        case .done: ending = .done
        // It stays in the queue, for the host to try again; until then the inbox shows what is.
        case .failed(let failure):
            ending = .refused
            noteInbox(HostError(.remote, failure.message), of: command.desktop)
        case .superseded, .displaced, .removed: ending = .refused
        }
        overtakeRefresh(of: command.desktop)
        store { (connection) throws(StoreError) -> (isKnown: Bool, unread: Int64) in
            let inbox = Inbox(connection)
            let change = try inbox.change(id)
            if let change { try inbox.end(change.number, ending) }
            return (change != nil, try inbox.unreadCount())
        } then: { core, result in
            guard case .success(let found) = result else { return }
            if found.isKnown {
                core.tellInbox(of: command.desktop, unread: found.unread)
                guard ending == .done, let desktop = core.desktops.first(where: { $0.id == command.desktop }) else {
                    return
                }
                // It was carried out later than it was shown: more may have gone with it.
                if InboxChange.Kind(method)?.isOfAll == true { core.refreshUnasked(desktop) }
            } else if case .done(let answer) = end.outcome {
                core.learn(method, command.params, answer, from: command.desktop) { _ in }
            }
        }
    }

    // MARK: Desktops

    enum InboxPlace {
        case paired(PairedDesktop)
        /// It was unpaired; its notifications are still here.
        case unpaired(PeerID)

        var id: PeerID {
            switch self {
            case .paired(let desktop): desktop.id
            case .unpaired(let id): id
            }
        }

        var desktop: PairedDesktop? {
            switch self {
            case .paired(let desktop): desktop
            case .unpaired: nil
            }
        }
    }

    private func pick(inbox name: String?) -> Result<InboxPlace, HostError> {
        if let name, !desktops.contains(where: { $0.id.text == name }) { return .success(.unpaired(PeerID(name))) }
        return pick(name).map(InboxPlace.paired)
    }
}

extension HostError {
    /// `nil` unless the desktop says that it has not done what it was asked for.
    init?(refusedBy result: JSONObject) {
        guard result["success"] == false else { return nil }
        let said = result["error"]?.string ?? "it did not say why"
        // Hosts show it to people, some on a terminal.
        let shown = String(String.UnicodeScalarView(said.unicodeScalars.map { $0.isControl ? " " : $0 }))
        self.init(.remote, "the desktop refused: \(shown)", detail: ["message": .string(shown)])
    }
}

extension Unicode.Scalar {
    /// C0, DEL and C1.
    fileprivate var isControl: Bool { value < 0x20 || (0x7F..<0xA0).contains(value) }
}
