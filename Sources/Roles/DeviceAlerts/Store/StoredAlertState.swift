import Alerts
package import Store

/// The stored state of the alerts when the device is opened.
package struct StoredAlertState: Sendable {
    let authorization: Authorization
    let settings: AlertSettings
    let categories: Categories
    let reminders: [Reminder]

    package init(_ connection: Connection) throws(StoreError) {
        let preferences = AlertPreferences(connection)
        authorization = try preferences.authorization()
        settings = try preferences.settings()
        categories = try preferences.categories()
        reminders = try ReminderTable(connection).all()
    }
}
