package import Alerts
import JSON
import Wire

/// An alert as it is to be shown.
package struct PresentedAlert: Sendable {
    package let key: AlertKey
    let content: AlertContent
    let actions: [Categories.Action]
    let presentation: Presentation
    /// Without light or sound: authorized provisionally.
    let isQuiet: Bool
    let isReminder: Bool
    /// Whether more of it than its title may be seen.
    var showsPreview = true
    /// The library's own question whether alerts may be shown: it stays until it is answered.
    var isQuestion = false
    /// The name of the action of a click on it; `nil` = a click does nothing.
    var tapTitle: String?
    /// The name of the desktop that sent it, if people must be told.
    var sender: String?

    package init(
        key: AlertKey, content: AlertContent, actions: [Categories.Action], presentation: Presentation = .all,
        isQuiet: Bool = false, isReminder: Bool = false, showsPreview: Bool = true, isQuestion: Bool = false,
        tapTitle: String? = nil, sender: String? = nil
    ) {
        self.key = key
        self.content = content
        self.actions = actions
        self.presentation = presentation
        self.isQuiet = isQuiet
        self.isReminder = isReminder
        self.showsPreview = showsPreview
        self.isQuestion = isQuestion
        (self.tapTitle, self.sender) = (tapTitle, sender)
    }

    /// `{"desktop"?,"alert":{…},"reminder"?}`
    var json: JSONObject {
        var alert = content.json
        alert["id"] = .string(key.id.text)
        return [
            "desktop": key.desktop.map { .string($0.text) }, "alert": .object(alert),
            "reminder": isReminder ? true : nil,
        ]
    }
}
