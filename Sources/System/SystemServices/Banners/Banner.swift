/// An alert in the form in which the desktop environment shows it.
///
/// All texts are plain, whatever is in them: ``BannerText`` makes them harmless for the server that shows them.
package struct Banner: Sendable {
    package struct Action: Sendable {
        package var id: String
        package var title: String

        package init(id: String, title: String) { (self.id, self.title) = (id, title) }
    }

    /// A text field where the server offers one; else a button that answers without a text.
    package struct Reply: Sendable {
        package var id: String
        package var title: String
        package var placeholder: String?

        package init(id: String, title: String, placeholder: String? = nil) {
            (self.id, self.title, self.placeholder) = (id, title, placeholder)
        }
    }

    package enum Urgency: UInt8, Sendable { case low, normal, critical }

    package enum Sound: Sendable {
        case none
        /// The desktop's own for a message.
        case standard
        /// A name of the sound theme.
        case named(String)
        /// An absolute path.
        case file(String)
    }

    /// The caller's; what comes back with a tap after the program's end. At most 1,024 bytes.
    package var id: String
    package var title: String
    package var subtitle: String?
    package var body: String
    /// The name of a click's action; `nil` = none is offered.
    package var tapTitle: String?
    /// At most 8; further ones are left out.
    package var actions: [Action]
    package var reply: Reply?
    package var urgency: Urgency
    package var sound: Sound
    /// An absolute path.
    package var imagePath: String?
    /// One of the specification's, such as `im.received`.
    package var category: String?
    /// What it is grouped by, where a server can; people see it there.
    package var thread: String?
    /// Leaves no trace in the server's list.
    package var isTransient: Bool
    /// Stays until somebody answers it, whatever its urgency.
    package var isQuestion: Bool
    /// It has its own time, so it does not wait behind ordinary ones.
    package var isReminder: Bool

    /// It waits behind others, and may make room for them on a full server.
    var isOrdinary: Bool { urgency != .critical && !isQuestion && !isReminder }

    package init(
        id: String, title: String, subtitle: String? = nil, body: String = "", tapTitle: String? = nil,
        actions: [Action] = [], reply: Reply? = nil, urgency: Urgency = .normal, sound: Sound = .standard,
        imagePath: String? = nil, category: String? = nil, thread: String? = nil, isTransient: Bool = false,
        isQuestion: Bool = false, isReminder: Bool = false
    ) {
        self.id = id
        self.title = title
        self.subtitle = subtitle
        self.body = body
        self.tapTitle = tapTitle
        self.actions = actions
        self.reply = reply
        self.urgency = urgency
        self.sound = sound
        self.imagePath = imagePath
        self.category = category
        self.thread = thread
        self.isTransient = isTransient
        self.isQuestion = isQuestion
        self.isReminder = isReminder
    }
}
