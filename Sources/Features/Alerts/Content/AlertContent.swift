package import JSON

/// The content of an alert (bellwire.h, "Alerts").
///
/// As its author wrote it: a presenter makes of it what its screen can show.
package struct AlertContent: Sendable, Equatable {
    package var title: String
    package var subtitle: String?
    package var body: String
    package var badge: Int64?
    /// `default`, a name of the sound theme, or a path; `nil` = silent.
    package var sound: String?
    package var category: String?
    package var thread: String?
    /// Travels back untouched with the response.
    package var userInfo: JSONObject
    package var deepLink: String?
    /// Paths of images; the first is shown.
    package var attachments: [String]
    package var level: AlertLevel

    package init(
        title: String, subtitle: String? = nil, body: String = "", badge: Int64? = nil, sound: String? = nil,
        category: String? = nil, thread: String? = nil, userInfo: JSONObject = [:], deepLink: String? = nil,
        attachments: [String] = [], level: AlertLevel = .active
    ) {
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.badge = badge
        self.sound = sound
        self.category = category
        self.thread = thread
        self.userInfo = userInfo
        self.deepLink = deepLink
        self.attachments = attachments
        self.level = level
    }
}
