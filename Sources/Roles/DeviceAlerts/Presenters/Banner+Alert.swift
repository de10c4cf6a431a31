import Alerts
import SystemServices

extension Banner {
    init(_ alert: PresentedAlert) {
        let content = alert.content
        let isSilent = alert.isQuiet || content.level == .passive || !alert.presentation.contains(.sound)
        let sound: Sound
        switch content.sound {
        case .some("default") where !isSilent: sound = .standard
        case .some(let name) where !isSilent && name.hasPrefix("/"): sound = .file(name)
        case .some(let name) where !isSilent: sound = AlertContent.namesSoundFile(name) ? .standard : .named(name)
        case .some, .none: sound = .none
        }
        let urgency: Urgency
        switch content.level {
        case .passive: urgency = .low
        case .active: urgency = alert.isQuiet ? .low : .normal
        case .timeSensitive: urgency = alert.isQuiet ? .low : .critical
        }
        let reply = alert.actions.first { $0.kind == .reply }
        self.init(
            id: alert.key.bannerID, title: content.title,
            subtitle: [alert.sender, content.subtitle].compactMap(\.self).joined(separator: " · "), body: content.body,
            tapTitle: alert.tapTitle,
            actions: alert.actions.filter { $0.kind == .button }.map { Action(id: $0.id, title: $0.title) },
            reply: reply.map { Reply(id: $0.id, title: $0.title, placeholder: $0.placeholder) }, urgency: urgency,
            sound: sound, imagePath: content.attachments.first,
            // Servers know their own list of categories, such as im.received.
            category: content.category.flatMap { $0.utf8.contains(UInt8(ascii: ".")) ? $0 : nil },
            thread: alert.showsPreview && !content.isOfRemoteThread ? content.thread : nil,
            isQuestion: alert.isQuestion, isReminder: alert.isReminder)
    }
}
