import CBellwire
import JSON

/// The output of `bellwire desktop --seal`: for each push service of each device that lacks a push, its payload.
struct ServicePayloads {
    private let handle: Handle
    private let json: Bool

    init(_ handle: Handle, json: Bool) { (self.handle, self.json) = (handle, json) }

    /// - Parameter answer: of `bw_desktop_notify`.
    func show(of answer: JSONValue) throws(Failure) {
        guard let id = answer["notificationId"]?.string, answer["failedCount"]?.integer ?? 0 > 0 else { return }
        for token in try result({ bw_desktop_tokens(handle.pointer, $0) }).array ?? [] {
            guard let device = token["device"]?.string, let service = token["service"]?.string else { continue }
            do throws(Failure) {
                show(try seal(id, for: device, service), token, id: id)
            } catch {
                // The device has the push.
                if error.exit != .notPaired { Output.failure(error, json: json) }
            }
        }
    }

    private func seal(_ id: String, for device: String, _ service: String) throws(Failure) -> JSONValue {
        let options: JSONValue = ["service": .string(service)]
        return try result { bw_desktop_seal_push(handle.pointer, device, id, options.serialized(), $0) }
    }

    private func show(_ payload: JSONValue, _ token: JSONValue, id: String) {
        guard json else {
            let (service, text) = (token["service"]?.string ?? "", token["token"]?.string ?? "")
            return Output.line("\(service)\t\(text)\t\(payload.serialized())")
        }
        Output.json([
            "event": "payload",
            "data": [
                "id": .string(id), "device": token["device"], "service": token["service"], "token": token["token"],
                "payload": payload,
            ],
        ])
    }
}
