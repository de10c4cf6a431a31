import DeviceAlerts
package import Hosting
import JSON
import Notifications
package import Sharing
import Store
import Wire

/// A device as one program has it: alone, or shared with other programs.
package enum SharedDevice {
    /// Opens the device, or joins the program that has it. Blocks the caller.
    package static func open(
        _ options: String?, _ channel: HostChannel
    ) throws(HostError) -> (SharedRole<Device>, threaded: Bool) {
        let parsed = try DeviceOptions(parsing: options)
        let role = try SharedRole.open(
            try JSONObject(parameter: "options_json", options), parsed.common, parsed.sharing,
            as: parsed.alerts.applicationID,
            stored: Device.storedEvents(in: parsed.common.stateDirectory), channel
        ) { (options, directory, channel, spool) throws(HostError) in
            let text = JSONValue.object(options).serialized()
            return try Device.open(try DeviceOptions(parsing: text), directory, channel, spool)
        }
        return (role, parsed.common.isThreaded)
    }
}

extension SharedRole<Device> {
    /// The device, where this program holds it: it alone shows alerts.
    package func held() throws(HostError) -> Device {
        guard let kind else { throw .notHolder }
        return kind
    }
}

extension HostError {
    fileprivate static var notHolder: Self {
        HostError(
            .busy, "another program holds the shared device and shows its alerts", detail: ["reason": "guest"])
    }
}

extension Device {
    /// Pushes are the inbox's own rows; what is kept besides is moved to the tables of the programs.
    static func storedEvents(in directory: String?) -> StoredEvents {
        StoredEvents(
            [
                .notificationReceived: InboxFeed(handoverPath: directory.map { "\($0)/device.handed" }),
                .notificationResponse: SharedEvents(.notificationResponse),
                .notificationSilent: SharedEvents(.notificationSilent),
            ], local: [.notificationReceived], move: moveKept)
    }

    /// Moves what is kept for the program to those that share the device, in one transaction.
    private static let moveKept: EventSpool.Move = { (connection, takers) throws(StoreError) in
        var sources: [HostEvent.Name] = []
        let kept = KeptEvents(connection)
        for name in KeptEvents.names {
            let feed = SharedEvents(name)
            var isNew = false
            while try feed.isWanted(connection) {
                let waiting = try kept.take(name, limit: 256)
                guard !waiting.isEmpty else { break }
                for item in waiting { try feed.add(item.event, connection) }
                try kept.finish(handed: waiting.map(\.row), untouched: [])
                isNew = true
            }
            guard isNew else { continue }
            try feed.added(takers: takers(name), connection)
            sources.append(name)
        }
        return sources
    }

    package func local(_ source: HostEvent.Name) -> (any LocalFeed)? {
        source == .notificationReceived ? core.opened.waitingPushes : nil
    }
}
