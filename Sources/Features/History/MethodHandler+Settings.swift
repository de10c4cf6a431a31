import JSON
import Notifications
import Store
import Wire

// The desktop's settings: read, and changed field by field.
extension MethodHandler {
    func getSettings() throws(StoreError) -> Handled {
        let current = try settings.current()
        var result: JSONObject = ["success": true]
        result.merge(shown(current.settings))
        if isBellwire { result["revision"] = .integer(current.revision) }
        return answer(result)
    }

    func update(_ change: SettingsChange) throws(StoreError) -> Handled {
        let author: PeerID? =
            switch caller {
            case .device(let peer, _): peer
            case .host: nil
            }
        let outcome = try settings.apply(change, by: author)
        let current = outcome.current
        var events: [StateEvent] = []
        if !outcome.changed.isEmpty {
            events = [.settingsChanged(current.settings.json, revision: current.revision)]
            try history.prune(current.settings, now: context.pruning)
        }
        // A change of which nothing is left has failed.
        let isLost = !outcome.stale.isEmpty && outcome.stale.count == change.values.count
        var result: JSONObject = ["success": .bool(!isLost), "settings": .object(shown(current.settings))]
        if isBellwire { result["revision"] = .integer(current.revision) }
        if !outcome.stale.isEmpty {
            result["stale"] = .array(outcome.stale.map { .string($0.rawValue) })
            result["error"] = "a newer change takes precedence"
        }
        return answer(result, announcing: events)
    }

    /// Deployed phones get only the fields that they know (WireMessages, "Values of the history and the settings").
    private func shown(_ settings: DesktopSettings) -> JSONObject {
        var json = settings.json
        if !isBellwire {
            for field in [SettingsField.retentionRows, .retentionDays] { json[field.rawValue] = nil }
        }
        return json
    }
}
