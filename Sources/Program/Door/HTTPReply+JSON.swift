import JSON
import Transport

extension HTTPReply {
    static let json = "application/json"

    init(_ value: JSONValue) { self.init(status: 200, contentType: Self.json, text: value.serialized() + "\n") }

    init(_ error: DoorError) {
        self.init(status: error.status, contentType: Self.json, text: error.json.serialized() + "\n")
    }
}
