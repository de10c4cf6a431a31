package import Transport

/// Shows banners through the desktop environment, and tells what the user did with them.
///
/// Uses `org.freedesktop.Notifications`; or, if the program has a name, GNOME's `org.gtk.Notifications` if available,
/// because such a server can start a program that has ended. A server that can be started by the bus is started when a
/// banner is shown. After a restart of the server or the bus, ``Event/ready(name:capabilities:)`` comes again; earlier
/// banners are no longer followed.
@EventLoop
package final class BannerServer {
    /// Whose banners they are.
    package struct Identity: Sendable {
        package var name: String
        /// A name of the icon theme, or an absolute path; `nil` = the application's.
        package var icon: String?
        /// The name of the .desktop file, without its ending: with it the program has that name on the bus.
        package var applicationID: String?

        package init(name: String, icon: String? = nil, applicationID: String? = nil) {
            (self.name, self.icon, self.applicationID) = (name, icon, applicationID)
        }
    }

    package enum Event: Sendable, Equatable {
        /// Banners can be shown: for the first time, again, or by another server.
        case ready(name: String, capabilities: [String])
        /// None can be, for this reason; told again when it changes.
        case gone(BusError)
        /// The last that is told of a banner, besides ``closed(_:)``.
        case responded(Handle, Response)
        /// It expired, or was taken away. `org.gtk.Notifications` tells only of what ``BannerServer/close(_:)`` closed.
        case closed(Handle)
        /// All banners of other lives of the server are gone, or, with `nil`, all that have a number: they can't be answered
        /// any more. Also those of earlier runs.
        case lost(exceptIn: String?)
        /// The user did this with a banner of `org.gtk.Notifications`, of this run or an earlier one: `action` is
        /// `default` or an action's id. Anybody on the bus can say so: it is not known whether there was such a banner.
        case activated(id: String, action: String, text: String?)
        /// Why the program does not have its name on the bus; `nil` from now on.
        case nameProblem(BusError?)
    }

    package enum Response: Sendable, Equatable {
        case tap
        case dismiss
        case action(String)
        case reply(id: String, String)
    }

    /// The banners on the screen whose end is reported.
    struct FollowedBanners {
        var shown = ShownBanners()
        /// The life of the server that `shown` is about; empty without a server.
        var life = ""
        /// Banners of that life were shown; also those whose end was reported may be listed somewhere.
        var hasShown = false
        /// Of an earlier run, until the first server has said who it is.
        var adopted: [(handle: Handle, replyID: String?)] = []
    }

    /// What waits until it is known which server shows banners.
    struct Undecided {
        /// The bus is starting a server.
        var isStarting = false
        var callers: [@EventLoop () -> Void] = []
        var banners: [WaitingBanner] = []
    }

    package typealias Completion = @EventLoop (Result<Handle, BusError>) -> Void

    /// A server that does not answer is asked again after this time.
    var pauseMilliseconds: UInt64 = 10_000

    /// How long a server may take to say what it can do; six times as long to show a banner.
    var answerMilliseconds: UInt64 = 10_000

    let bus: Bus
    let identity: Identity
    private let handler: @EventLoop (Event) -> Void
    let application: Application?
    private let badge: LauncherBadge?
    var isStarted = false
    var machine: BannerRouteStateMachine
    var freedesktop: BusService?
    var gtk: BusService?
    var followed = FollowedBanners()
    var undecided = Undecided()
    lazy var pending = PendingBanners { [weak self] in
        self?.notify($0, $1)
    } makeRoom: { [weak self] in
        self?.closeOldestOrdinary()
    }
    lazy var again = LoopTimer { [weak self] in
        guard let self else { return }
        self.carryOut(self.machine.askAgain())
    }

    /// `bus`: the session's. It is opened by its owner.
    package init(on bus: Bus, _ identity: Identity, _ handler: @escaping @EventLoop (Event) -> Void) {
        self.bus = bus
        self.identity = identity
        self.handler = handler
        let id = identity.applicationID.flatMap { ApplicationID($0) }
        machine = BannerRouteStateMachine(usesGTK: id != nil)
        badge = id.map { LauncherBadge(on: bus, id: $0) }
        let calls = ApplicationCalls()
        application = id.map { Application(on: bus, id: $0) { calls.owner?.take($0) ?? false } }
        calls.owner = self
    }

    package func start() {
        guard !isStarted else { return }
        isStarted = true
        if application != nil {
            let gtk = BusService(GTKBannerRequest.name, on: bus, signalsOf: []) { [weak self] in self?.takeGTK($0) }
            self.gtk = gtk
            gtk.start()
        }
        let freedesktop = BusService(NotificationServer.name, on: bus, signalsOf: [NotificationServer.name]) {
            [weak self] in
            self?.take($0)
        }
        self.freedesktop = freedesktop
        freedesktop.start()
        application?.start()
        badge?.start()
    }

    /// Tells nothing any more, and gives the program's name back. Banners stay where they are.
    package func stop() {
        guard isStarted else { return }
        isStarted = false
        application?.stop()
        badge?.stop()
        freedesktop?.stop()
        gtk?.stop()
        freedesktop = nil
        gtk = nil
        again.stop()
        followed.shown.clear()
        machine = BannerRouteStateMachine(usesGTK: application != nil)
        let waiting = undecided.banners + pending.takeAll()
        undecided.banners = []
        for banner in waiting { banner.end(.failure(BusError(.closed, "banners are no longer shown"))) }
        tellDecided()
    }

    /// Finds out who shows banners; a server that can be started is. `then` comes once, never inside this call.
    package func decide(then: @escaping @EventLoop () -> Void) {
        undecided.callers.append(then)
        carryOut(machine.wanted())
    }

    // MARK: What is so now

    package var isReady: Bool {
        switch machine.route {
        case .none, .undecided: false
        case .freedesktop, .gtk: true
        }
    }

    /// Why no banner can be shown; else why the program has not its name.
    package var problem: BusError? {
        if case .none(let error) = machine.route { return error }
        if let id = identity.applicationID, application == nil {
            return BusError(.invalid, "\(BannerText.line(id, limit: 64)) is not a valid bus name")
        }
        return application?.problem
    }

    package var serverName: String? {
        switch machine.route {
        case .none, .undecided: nil
        case .freedesktop(_, let server): server.name
        case .gtk: GTKBannerRequest.name
        }
    }

    package var capabilities: [String] {
        switch machine.route {
        case .none, .undecided: []
        case .freedesktop(_, let server): server.capabilities
        case .gtk: GTKBannerRequest.capabilities
        }
    }

    func tell(_ event: Event) {
        if isStarted { handler(event) }
    }

    // MARK: The badge

    /// The number at the program's icon; 0 = none. Without an application's name nothing can have one.
    package func setBadge(_ count: Int64) {
        badge?.set(count)
    }
}

/// The way from a part that is made before its owner is.
@EventLoop
private final class ApplicationCalls {
    weak var owner: BannerServer?
}
