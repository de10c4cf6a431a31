package import Hosting
package import JSON
import Wire

extension Desktop {
    /// What `bw_desktop_seal_push` is asked for, checked.
    package struct SealRequest: Sendable {
        let device: PeerID
        let push: NotificationID
        /// The options as the host gave them.
        let given: JSONObject
        let form: ServicePayload.Form

        /// - Parameter options: `{"service"?,"alert"?}`
        ///
        /// Throws `invalid`.
        package init(device: String, id: String, _ options: JSONObject) throws(HostError) {
            guard (1...1_024).contains(id.utf8.count) else {
                throw HostError(.invalid, "id must have 1 to 1024 bytes", detail: ["field": "id"])
            }
            var reader = OptionsReader(options)
            let service = try reader.text("service") ?? "fcm"
            guard let service = PushService(service) else { throw .invalidPushService }
            let alert = try reader.text("alert") ?? ServicePayload.defaultAlert
            guard !alert.isEmpty, JSONValue.string(alert).serialized().utf8.count <= ServicePayload.alertLimit + 2
            else {
                throw HostError(
                    .invalid, "alert must have 1 to \(ServicePayload.alertLimit) bytes as JSON",
                    detail: ["field": "alert"])
            }
            try reader.finish()
            (self.device, push, given) = (PeerID(device), NotificationID(id), options)
            form = ServicePayload.Form(service: service.text, alert: alert)
        }
    }
}
