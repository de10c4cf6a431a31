package import JSON
package import Wire

/// A user's response to an alert.
package struct AlertResponse: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case tap
        case dismiss
        /// Executed by the library; the program is notified.
        case markRead
        /// Of the host's categories.
        case button
        case reply
    }

    package static let tap = "default"
    package static let dismiss = "dismiss"
    package static let reply = "REPLY_ACTION"
    package static let markRead = "MARK_READ_ACTION"
    package static let textLimit = 65_536

    /// One of the above, or the host's own id.
    package let action: String
    package let kind: Kind
    /// The text of a reply. `nil` if the presenter has no text field.
    package let text: String?

    /// Whether that can be answered to an alert of this category.
    ///
    /// An empty text, which some servers send with every button, is ignored except for replies.
    package init(action: String, text: String?, category: Categories.Category?) throws(AlertsError) {
        let text = text.flatMap { $0.isEmpty ? nil : $0 }
        switch action {
        case Self.tap: kind = .tap
        case Self.dismiss: kind = .dismiss
        default:
            guard let known = category?[action: action] else {
                throw AlertsError("action: is not defined in the alert's category", field: "action")
            }
            switch known.kind {
            case .button: kind = action == Self.markRead ? .markRead : .button
            case .reply: kind = .reply
            }
        }
        if let text {
            guard kind == .reply else { throw AlertsError("text: is only allowed with a reply", field: "text") }
            guard text.utf8.count <= Self.textLimit else {
                throw AlertsError("text: is longer than \(Self.textLimit) bytes", field: "text")
            }
        }
        (self.action, self.text) = (action, text)
    }

    /// The data of `notification.response`.
    ///
    /// - Parameters:
    ///   - row: the alert.
    ///   - push: what `notification.received` has said of it; of a push that is still there.
    package func data(of row: AlertRow, push: JSONObject?, at moment: EpochMilliseconds) -> JSONObject {
        let content = row.content
        var data: JSONObject = ["id": .string(row.key.id.text), "action": .string(action)]
        data["text"] = text.map(JSONValue.string)
        // The presenter has no text field, so the program must ask for the text.
        if kind == .reply, text == nil { data["textNeeded"] = true }
        data["userInfo"] = .object(content.userInfo)
        data["deepLink"] = content.deepLink.map(JSONValue.string)
        data["category"] = content.category.map(JSONValue.string)
        data["thread"] = content.thread.map(JSONValue.string)
        data["title"] = .string(content.title)
        data["respondedAt"] = .integer(moment)
        if row.isLate { data["late"] = true }
        data["push"] = push.map(JSONValue.object)
        return data
    }
}
