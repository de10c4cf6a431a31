package import JSON
package import Wire

extension AlertContent {
    /// The alert of a push (bellwire.h, "Alerts"), out of what the push itself says.
    ///
    /// Without a `thread` it belongs to the thread of its source, without a `category` to the category of all pushes.
    /// Its user info is its data. The deep link may also be in the data. Without a `sound` a push has the default one,
    /// unless its priority is low; `none` makes it silent.
    package init(
        push title: String, subtitle: String?, body: String, priority: Priority, source: NotificationSource,
        category: String?, thread: String?, badge: Int64?, sound: String?, data: JSONObject?, deepLink: String?
    ) {
        let level = AlertLevel(priority)
        func link(_ name: String) -> String? { data?[name]?.string }
        self.init(
            title: title, subtitle: Self.text(subtitle), body: body, badge: badge.flatMap { $0 < 0 ? nil : $0 },
            sound: Self.remoteSound(sound, level), category: Self.text(category) ?? Self.remoteCategory,
            thread: Self.text(thread) ?? Self.remoteThread + source.rawValue, userInfo: data ?? [:],
            deepLink: Self.text(deepLink) ?? Self.text(link("deepLink")) ?? Self.text(link("deep_link")), level: level)
    }

    /// The category of a push that names none.
    package static let remoteCategory = "REMOTE_NOTIFICATION"

    /// How the thread of pushes that name none begins; their source follows.
    private static let remoteThread = "remote."

    /// Whether its thread is that of all pushes of its source: no name that people would read.
    package var isOfRemoteThread: Bool { thread?.hasPrefix(Self.remoteThread) ?? false }

    /// A peer may choose a name from the sound theme or the default sound, never a file.
    private static func remoteSound(_ sound: String?, _ level: AlertLevel) -> String? {
        guard let sound else { return level == .passive ? nil : "default" }
        guard !sound.isEmpty, sound != "none" else { return nil }
        let isName =
            sound.utf8.count <= 64 && !sound.hasPrefix(".") && !namesSoundFile(sound)
            && sound.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20) || "-_.".utf8.contains(byte)
            }
        return isName ? sound : "default"
    }

    /// Whether it is the name of a file, such as those in phone apps (`chime.caf`): no sound theme has that.
    package static func namesSoundFile(_ sound: String) -> Bool {
        let name = sound.lowercased()
        return [".aif", ".aiff", ".caf", ".flac", ".m4a", ".mp3", ".oga", ".ogg", ".wav"].contains {
            name.hasSuffix($0)
        }
    }

    private static func text(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
}
