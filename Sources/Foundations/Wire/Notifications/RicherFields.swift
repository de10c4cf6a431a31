package import JSON

/// The optional fields of a push, beside its `data` or inside it (WireMessages, "Optional fields of a push").
package struct RicherFields: Sendable, Equatable {
    /// For the history alone: no banner.
    package var silenced: Bool?
    /// A push replaces an earlier one with the same key.
    package var collapseKey: String?
    package var expiresAt: EpochMilliseconds?
    package var imageURL: String?
    package var deepLink: String?
    package var category: String?
    package var threadID: String?
    package var subtitle: String?
    package var badge: Int64?
    package var sound: String?
    /// `{nonce, box}`: kept as it came, opened by the device (WireMessages, "Optional fields of a push").
    package var encryptedBody: JSONObject?

    package init() {}

    package var isEmpty: Bool { self == RicherFields() }

    /// Every name on the wire, in the order in which they are written.
    package static let names = [
        "silenced", "collapseKey", "expiresAt", "imageUrl", "deepLink", "category", "threadId", "subtitle", "badge",
        "sound", "encrypted_body",
    ]

    /// A field beside `data` takes precedence over one inside it. A field of the wrong type counts as absent.
    package init(beside: JSONObject, inside data: JSONObject?) {
        silenced = beside["silenced"]?.bool ?? data?["silenced"].flatMap(RicherFields.bool)
        expiresAt = beside["expiresAt"]?.integer ?? data?["expiresAt"].flatMap(RicherFields.integer)
        badge = beside["badge"]?.integer ?? data?["badge"].flatMap(RicherFields.integer)
        func text(_ name: String) -> String? { beside[name]?.string ?? data?[name]?.string }
        collapseKey = text("collapseKey")
        imageURL = text("imageUrl")
        deepLink = text("deepLink")
        category = text("category")
        threadID = text("threadId")
        subtitle = text("subtitle")
        sound = text("sound")
        encryptedBody = beside["encrypted_body"]?.object ?? data?["encrypted_body"]?.object
    }

    /// The fields that are there, by their names on the wire.
    package var members: JSONObject {
        [
            "silenced": silenced.map(JSONValue.bool),
            "collapseKey": collapseKey.map(JSONValue.string),
            "expiresAt": expiresAt.map(JSONValue.integer),
            "imageUrl": imageURL.map(JSONValue.string),
            "deepLink": deepLink.map(JSONValue.string),
            "category": category.map(JSONValue.string),
            "threadId": threadID.map(JSONValue.string),
            "subtitle": subtitle.map(JSONValue.string),
            "badge": badge.map(JSONValue.integer),
            "sound": sound.map(JSONValue.string),
            "encrypted_body": encryptedBody.map(JSONValue.object),
        ]
    }

    /// `data` is text -> text with deployed peers: inside it "true" is a truth.
    private static func bool(_ value: JSONValue) -> Bool? { value.bool ?? value.string.flatMap { Bool($0) } }
    private static func integer(_ value: JSONValue) -> Int64? { value.integer ?? value.string.flatMap { Int64($0) } }
}
