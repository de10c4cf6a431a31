import Addresses
package import JSON

/// Finds the image URL of a push.
package enum ImageSource {
    /// The fields that may contain a URL, in this order; beside `data`, then inside it.
    private static let places: [[String]] = [
        ["imageUrl"], ["fcm_options", "image"], ["notification", "image"], ["media_url"],
    ]

    /// The first valid `https://` URL, in its checked form; invalid ones before it are skipped.
    ///
    /// `push` is a payload with its fields beside `data`, as it came.
    package static func first(in push: JSONObject) -> String? {
        for text in named(in: push) {
            if let url = try? HTTPSURL(text) { return url.text }
        }
        return nil
    }

    /// The same, or the first one if none is valid: the fetch then reports what is wrong with it.
    package static func best(in push: JSONObject) -> String? { first(in: push) ?? named(in: push).first }

    /// Whatever stands at these places, in their order.
    private static func named(in push: JSONObject) -> [String] {
        let data = push["data"].flatMap(object)
        return places.flatMap { place in
            [push, data].compactMap { fields in
                fields.flatMap { value(at: place, in: $0) }?.string.flatMap { $0.isEmpty ? nil : $0 }
            }
        }
    }

    private static func value(at place: [String], in fields: JSONObject) -> JSONValue? {
        var value = JSONValue.object(fields)
        for key in place {
            guard let member = object(value)?[key] else { return nil }
            value = member
        }
        return value
    }

    /// An object, or, as deployed desktops write those inside `data`, a text that holds the JSON of one.
    private static func object(_ value: JSONValue) -> JSONObject? {
        if let object = value.object { return object }
        guard let text = value.string, text.utf8.first == UInt8(ascii: "{") else { return nil }
        return (try? JSONValue(parsing: text))?.object
    }
}
