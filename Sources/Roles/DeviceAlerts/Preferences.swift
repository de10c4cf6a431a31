import Alerts
import Hosting
import JSON
import Store
import SystemServices

/// The settings and the categories that alerts are shown with.
///
/// A change counts at once, and is undone if it could not be stored.
struct Preferences {
    enum Action {
        /// Store it, then call ``saved(_:_:)``.
        case store(Change)
        case reply(Then, Result<HostReply, HostError>)
        /// Quiet hours may have ended, or begun.
        case settingsChanged
    }

    /// A change on its way to the store, and who waits for it.
    struct Change: StoreWork {
        enum Kind: Sendable {
            case settings(AlertSettings, previous: AlertSettings)
            case categories(Categories, previous: Categories)
        }

        let kind: Kind
        let waiter: Then

        func run(_ store: AlertTransaction) throws(StoreError) {
            let table = AlertPreferences(store.connection)
            switch kind {
            case .settings(let new, _): try table.save(new)
            case .categories(let new, _): try table.save(new)
            }
        }

        var isAwaited: Bool { true }
        var failureReport: String? { nil }
    }

    private let configuration: AlertConfiguration
    private(set) var settings = AlertSettings()
    private(set) var categories = Categories()
    /// The store was read.
    private(set) var isLoaded = false

    init(_ configuration: AlertConfiguration) { self.configuration = configuration }

    /// With the program's burst limit where the user has set none.
    var effective: AlertSettings { effective(settings) }

    private func effective(_ settings: AlertSettings) -> AlertSettings {
        var settings = settings
        settings.burstLimit = settings.burstLimit ?? configuration.options.burstLimit
        return settings
    }

    mutating func load(_ stored: StoredAlertState) {
        (settings, categories, isLoaded) = (stored.settings, stored.categories, true)
    }

    mutating func register(_ value: JSONValue, _ then: @escaping Then) -> [Action] {
        do throws(AlertsError) {
            let new = try Categories(parsing: value)
            defer { categories = new }
            return [.store(Change(kind: .categories(new, previous: categories), waiter: then))]
        } catch {
            return [.reply(then, .failure(HostError(error)))]
        }
    }

    mutating func apply(_ object: JSONObject, _ then: @escaping Then) -> [Action] {
        var new = settings
        do throws(AlertsError) { try new.apply(object) } catch { return [.reply(then, .failure(HostError(error)))] }
        defer { settings = new }
        return [.store(Change(kind: .settings(new, previous: settings), waiter: then))]
    }

    mutating func saved(_ change: Change, _ result: Result<Void, StoreError>) -> [Action] {
        switch (change.kind, result) {
        case (.settings(let new, let previous), .failure(let error)):
            if settings == new { settings = previous }
            return [.reply(change.waiter, .failure(HostError(error)))]
        case (.categories(let new, let previous), .failure(let error)):
            if categories == new { categories = previous }
            return [.reply(change.waiter, .failure(HostError(error)))]
        case (.settings(let new, _), .success):
            return [.settingsChanged, .reply(change.waiter, .success(HostReply(effective(new).json)))]
        case (.categories, .success): return [.reply(change.waiter, .success(.done))]
        }
    }

    func category(of content: AlertContent) -> Categories.Category? { content.category.flatMap { categories[$0] } }

    /// The link that a click on an alert opens; `nil` = none.
    func link(of content: AlertContent) -> String? {
        configuration.options.opensLinks && settings.openLinks ? content.deepLink.flatMap(WebLink.checked) : nil
    }

    /// What of an alert is to be shown.
    ///
    /// - Parameter sender: the desktop's name, if it is to be seen.
    func presented(_ showing: AlertPipeline.Showing, from sender: String? = nil) -> PresentedAlert {
        let run = showing.run
        var content = settings.shown(run.content, quietly: run.isQuiet)
        if !showing.presentation.contains(.sound) { content.sound = nil }
        return PresentedAlert(
            key: run.key, content: content,
            actions: categories.actions(of: run.content.category, in: configuration.language),
            presentation: showing.presentation, isQuiet: run.isQuiet, isReminder: run.alert.isReminder,
            showsPreview: settings.showPreview,
            tapTitle: configuration.options.opensLinks && link(of: run.content) == nil
                ? nil : configuration.language.open,
            sender: sender)
    }

    /// Banners of an earlier process, to be followed.
    func adopted(_ delivered: [AlertRow]) -> [Screen.Adopted] {
        delivered.compactMap { alert in
            let reply = category(of: alert.content)?.actions.first { $0.kind == .reply }
            return alert.handle.map { Screen.Adopted(handle: $0, key: alert.key, replyID: reply?.id) }
        }
    }
}
