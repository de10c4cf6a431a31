import Hosting
import Inbox
import JSON
import Notifications
import Pairing
import Peering
import Store
import Transport
import Wire

/// The hosts' queries to the inbox.
@EventLoop
struct InboxQueries {
    private let context: DeviceContext
    private let book: DesktopBook
    private let inbox: DeviceInbox

    init(_ context: DeviceContext, _ book: DesktopBook, _ inbox: DeviceInbox) {
        (self.context, self.book, self.inbox) = (context, book, inbox)
    }

    /// As `bw_inbox_load` gives it.
    func load(_ query: Device.InboxQuery, _ then: @escaping Then) {
        context.answer(then) { (connection) throws(StoreError) -> (page: Inbox.Page, unread: Int64)? in
            let inbox = Inbox(connection)
            guard let page = try inbox.pages.page(query.query, of: query.desktop) else { return nil }
            guard let desktop = query.desktop else { return (page, try inbox.counts.unread()) }
            return (page, try inbox.counts.unread(of: desktop))
        } json: { [inbox] found in
            guard let (page, unread) = found else {
                return .failure(
                    HostError(.invalid, "before: unknown position in the inbox", detail: ["field": "before"]))
            }
            let object: JSONObject = [
                "notifications": .array(page.items.map { .object($0.json) }), "total": .integer(page.total),
                "unread": .integer(unread), "next": page.next.map(JSONValue.string),
                "loading": .bool(inbox.isLoading(query.desktop)), "incomplete": page.isIncomplete ? true : nil,
            ]
            return .success(HostReply(object))
        }
    }

    /// As `bw_inbox_state` gives it.
    func describe(_ then: @escaping Then) {
        let ids = book.peers.ids
        context.answer(then) { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            var parts: [(unread: Int64, refreshedAt: EpochMilliseconds?)] = []
            for id in ids { parts.append((try inbox.counts.unread(of: id), try inbox.history.refreshedAt(of: id))) }
            return (unread: try inbox.counts.unread(), parts: parts)
        } json: { [inbox] found in
            let states = zip(ids, found.parts).map { id, part in
                var state = inbox.state(of: id)
                state["desktop"] = .string(id.text)
                state["unread"] = .integer(part.unread)
                state["refreshedAt"] = part.refreshedAt.map(JSONValue.integer)
                return JSONValue.object(state)
            }
            let object: JSONObject = [
                "unread": .integer(found.unread), "loading": .bool(inbox.isLoading(nil)), "desktops": .array(states),
            ]
            return .success(HostReply(object))
        }
    }
}
