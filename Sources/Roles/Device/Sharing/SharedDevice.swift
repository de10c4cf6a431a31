import DeviceAlerts
package import Hosting
import Inbox
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
    ) throws(HostError) -> (SharedRole, threaded: Bool) {
        let parsed = try DeviceOptions(parsing: options)
        let role = try SharedRole.open(
            Device.self, try JSONObject(parameter: "options_json", options), parsed.common, parsed.sharing,
            as: parsed.alerts.applicationID,
            stored: StoredEvents([.notificationReceived] + KeptEvents.names, move: Device.moveEvents), channel
        ) { (options, directory, channel, spool) throws(HostError) in
            let text = JSONValue.object(options).serialized()
            return try Device.open(try DeviceOptions(parsing: text), directory, channel, spool)
        }
        return (role, parsed.common.isThreaded)
    }
}

/// What a device's alerts need of the program that has it.
extension SharedRole {
    /// Opens the desktop environment's settings for notifications. Blocks for the time that takes.
    package func openNotificationSettings() throws(HostError) {
        try heldDevice().openNotificationSettings()
    }

    package func requireHostPresenter() throws(HostError) {
        try heldDevice().requireHostPresenter()
    }

    private func heldDevice() throws(HostError) -> Device {
        guard let device = kind as? Device else { throw .notHolder }
        return device
    }
}

extension HostError {
    fileprivate static let notHolder = HostError(
        .busy, "another program holds the shared device and shows its alerts", detail: ["reason": "guest"])
}

extension Device {
    /// Moves what waits for the program to those that share the device, in one transaction.
    static let moveEvents: EventSpool.Move = { (connection, takers) throws(StoreError) in
        let feed = ApplicationFeed(connection)
        var sources: [HostEvent.Name] = []
        let handover = Inbox(connection).handover
        var found = 0
        while try feed.isWanted(.notificationReceived) {
            let entries = try handover.waitingForHost(limit: batch, after: 0)
            guard let last = entries.last else { break }
            for entry in entries {
                try feed.add(event(of: entry), of: .notificationReceived)
            }
            try handover.finish(through: last.arrival, offering: last.arrival)
            found += entries.count
        }
        if found > 0 { sources.append(.notificationReceived) }
        let kept = KeptEvents(connection)
        for name in KeptEvents.names {
            var isNew = false
            while try feed.isWanted(name) {
                let waiting = try kept.take(name, limit: batch)
                guard !waiting.isEmpty else { break }
                for item in waiting { try feed.add(item.event, of: name) }
                try kept.finish(handed: waiting.map(\.row), untouched: [])
                isNew = true
            }
            if isNew { sources.append(name) }
        }
        for source in sources { try feed.added(source, takers: takers(source)) }
        return sources
    }

    private static let batch = 256

    private static func event(of entry: Inbox.Entry) -> HostEvent {
        var data = entry.notification.receivedData()
        if let replaces = entry.replaces { data["replaces"] = .string(replaces.text) }
        return HostEvent(
            entry.replaces == nil ? .notificationReceived : .notificationUpdated, desktop: entry.desktop.text,
            data: data)
    }
}
