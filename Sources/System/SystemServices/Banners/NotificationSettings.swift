import COnDemand
import Glibc

/// The desktop environment's own settings for notifications: each has a program for them.
package enum NotificationSettings {
    /// Starts the program, which lives on by itself. Blocks for the time that takes. Returns why it can't, for people.
    package static func open() -> String? {
        let names = getenv("XDG_CURRENT_DESKTOP").map { String(cString: $0) } ?? ""
        for name in names.split(separator: ":") {
            guard let command = command(of: name) else { continue }
            return bw_program_start(command, nil) == 0 ? nil : "\"\(command)\" cannot be started"
        }
        return "no settings program is known for the value of XDG_CURRENT_DESKTOP"
    }

    private static func command(of desktop: Substring) -> String? {
        switch desktop {
        case "GNOME", "Unity": "gnome-control-center notifications"
        case "Budgie": "budgie-control-center notifications"
        case "KDE": "systemsettings kcm_notifications"
        case "LXQt": "lxqt-config-notificationd"
        case "MATE": "mate-notification-properties"
        case "X-Cinnamon": "cinnamon-settings notifications"
        case "XFCE": "xfce4-notifyd-config"
        default: nil
        }
    }
}
