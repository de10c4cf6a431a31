import Hosting
import Inbox
import JSON
import TestSupport
import Testing

@testable import Device

struct LoadedPage {
    let json: JSONValue

    private var rows: [JSONValue] { json["notifications"]?.array ?? [] }
    var ids: [String] { rows.compactMap { $0["id"]?.string } }
    var titles: [String] { rows.compactMap { $0["title"]?.string } }
    var desktops: [String] { rows.compactMap { $0["desktop"]?.string } }
    var uncertain: [String] { rows.filter { $0["uncertain"] == true }.compactMap { $0["id"]?.string } }
    var unread: Int64? { json["unread"]?.integer }
    var total: Int64? { json["total"]?.integer }
}

extension Device {
    func load(_ params: JSONObject = [:]) async throws -> LoadedPage {
        let query = try InboxQuery(params)
        return LoadedPage(json: try await value(.loadInbox(query)))
    }

    func change(
        _ request: InboxRequest, desktop: String? = nil, timeout: CallTimeout = 10_000
    ) async throws -> Result<JSONValue, HostError> {
        await outcome(.ask(.change(request), of: desktop, timeout))
    }

    /// Asks until the inbox is like that, at most five seconds.
    func until(
        _ location: SourceLocation = #_sourceLocation, _ isWanted: (LoadedPage) -> Bool
    ) async throws {
        try await until(location) { isWanted(try await load()) }
    }

    /// The same of its state.
    func untilInbox(
        _ location: SourceLocation = #_sourceLocation, _ isWanted: (JSONValue) -> Bool
    ) async throws {
        try await until(location) { isWanted(try await value(.inboxState)) }
    }

    private func until(_ location: SourceLocation, isSo: () async throws -> Bool) async throws {
        try await TestSupport.until("the inbox", within: 5_000, sourceLocation: location, isSo)
    }
}

extension RawPeer {
    /// Answers what a device asks by itself when it comes: what it has missed, the history, the settings.
    func answerSync(of device: String, rows: [JSONValue]) async throws {
        let history: JSONObject = [
            "items": .array(rows), "total": .integer(Int64(rows.count)), "unreadCount": .integer(Int64(rows.count)),
        ]
        answer(try await request("notification.getHistory"), of: device, ["result": .object(history)])
        try await answerRefresh(of: device, history)
        answer(try await request("notification.getSettings"), of: device, ["result": ["enabled": true]])
    }

    func answerRefresh(of device: String, _ history: JSONObject) async throws {
        answer(try await request("notification.getHistory"), of: device, ["result": .object(history)])
    }

    /// Whether a request has come that nobody has taken.
    var hasRequest: Bool { waitingFrames.contains { $0["payload"]?["type"] == "chainlesschain:command:request" } }
}
