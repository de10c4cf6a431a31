import Hosting
import JSON
@testable import Notifications
@testable import Relay
import Wire

extension FuzzTarget {
    /// What our device sends for a host's parameters our desktop reads; what it reads is bounded.
    static let methods = FuzzTarget("methods") { bytes in
        var input = FuzzInput(bytes)
        let method = input.element(NotificationMethod.allCases)
        let params: JSONObject
        if input.flag() {
            guard let object = JSONValue(fuzzed: input.rest())?.object else { return }
            params = object
        } else {
            let names = method.row.parameters.map(\.name)
            params = input.object(names + ["urgent", "22:00", "newest", "mobile", "limit"])
        }
        _ = try? PushRequest(peer: ParameterReader(params))
        _ = try? SettingsChange(peer: params)
        _ = try? SettingsChange(peer: params, ignoresUnknown: true)
        if let query = try? HistoryQuery(peer: params) {
            try require(HistoryQuery.pageLimit.contains(query.limit), "a page of \(query.limit) rows")
            try require(try HistoryQuery(peer: query.wire) == query, "a query reads back as another one")
        }
        guard let wire = try? method.row.wire(from: params) else { return }
        do {
            switch method {
            case .send, .sendToMobile, .broadcast: _ = try PushRequest(peer: ParameterReader(wire))
            case .getHistory:
                let query = try HistoryQuery(peer: wire)
                try require(try HistoryQuery(host: params) == query, "host and desktop read different queries")
            case .updateSettings:
                _ = try SettingsChange(peer: wire)
                try require(
                    SettingsChange.rest(of: wire, after: wire) == nil, "something is left of a change after itself")
            case .markAsRead, .delete:
                try require(wire["notificationId"]?.string?.isEmpty == false, "no id")
            case .markAllAsRead, .clearAll, .getUnreadCount, .getSettings: break
            }
        } catch let error as NotificationsError {
            throw FuzzFinding("\(method.name): the device sends what the desktop refuses: \(error.message)")
        }
    }

    /// The answer of any desktop becomes one shape, which is its own answer.
    static let methodResults = FuzzTarget("method-results") { bytes in
        var input = FuzzInput(bytes)
        let method = input.element(NotificationMethod.allCases)
        let value: JSONValue
        if input.flag() {
            guard let parsed = JSONValue(fuzzed: input.rest()) else { return }
            value = parsed
        } else {
            value = .object(
                input.object([
                    "success", "notificationId", "id", "silenced", "timestamp", "delivered", "deviceId", "error",
                    "deliveredCount", "failedCount", "failed", "markedCount", "deletedCount", "clearedCount", "count",
                    "unreadCount", "settings", "revision", "stale", "notifications", "total", "items", "reason", "next",
                ]))
        }
        guard let result = try? MethodResult(decoding: value, of: method, now: 99) else { return }
        let again = try MethodResult(decoding: .object(result.json), of: method, now: 99)
        // Rows that could not be read are gone from the shape.
        let skipped: JSONObject = ["skipped": 0]
        let shapes = [result, again].map { result in
            var json = result.json
            if json["skipped"] != nil { json.merge(skipped) }
            return JSONValue.object(json).serialized()
        }
        try require(shapes[0] == shapes[1], "\(method.name): another shape the second time: \(shapes)")
    }

    /// Options of a host are read or refused with a name; nothing in them traps.
    static let options = FuzzTarget("options") { bytes in
        guard let object = JSONValue(fuzzed: bytes)?.object else { return }
        _ = try? RelayOptions(json: object)
        var reader = OptionsReader(object)
        _ = try? reader.text("state_dir", maximumBytes: 64)
        _ = try? reader.relayURL("relay_url")
        _ = try? reader.flag("threaded")
        _ = try? reader.integer("port", in: 1...65_535)
        _ = try? reader.texts("origins", maximum: 4)
        _ = try? reader.choice("priority", of: FuzzChoice.self)
        var inner = try? reader.object("tls")
        _ = try? inner?.text("certificate")
        _ = try? reader.rawObject("relay")
        let taken: Set = [
            "state_dir", "relay_url", "threaded", "port", "origins", "priority", "tls", "relay",
        ]
        let isFinished = (try? reader.finish()) != nil
        try require(isFinished == Set(object.keys).isSubset(of: taken), "an unknown key is overlooked")
    }
}

private enum FuzzChoice: String, CaseIterable { case low, normal, urgent }
