package import Transport

/// Shows banners through the desktop environment, and tells what the user did with them.
///
/// By `org.freedesktop.Notifications`; with a name of the program's, by GNOME's `org.gtk.Notifications` where that is,
/// because such a server can start a program that has ended. A server that can be started is, when a banner is to be
/// shown. After a restart of the server, or of the bus, ``Event/ready(name:capabilities:)`` comes again; what was shown
/// before is no longer followed.
@EventLoop
package final class BannerServer {
    /// Whose banners they are.
    package struct Identity: Sendable, Equatable {
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

    package typealias Completion = @EventLoop (Result<Handle, BusError>) -> Void

    private static let interface = NotificationServer.name
    /// A server that does not answer is asked again after this time.
    static let pauseMilliseconds: UInt64 = 10_000

    /// How long a server may take to show a banner, or to say what it can do.
    var answerMilliseconds: UInt64 = 10_000

    private let bus: Bus
    private let identity: Identity
    private let handler: @EventLoop (Event) -> Void
    private let application: Application?
    private let badge: LauncherBadge?
    private var isStarted = false
    private var machine: BannerRouteStateMachine
    private var freedesktop: BusService?
    private var gtk: BusService?
    private var shown = ShownBanners()
    /// The life of the server that `shown` is about.
    private var shownLife = ""
    /// Of an earlier run, until the first server has said who it is.
    private var adopted: [(handle: Handle, replyID: String?)] = []
    private var isStarting = false
    private lazy var again = LoopTimer { [weak self] in
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
        let freedesktop = BusService(NotificationServer.name, on: bus, signalsOf: [Self.interface]) { [weak self] in
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
        shown.clear()
        machine = BannerRouteStateMachine(usesGTK: application != nil)
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
            return BusError(.invalid, "\(BannerText.line(id, limit: 64)) is no name that a program can have on a bus")
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

    // MARK: Showing

    /// Shows a banner, in the place of another if that is still there. `then` comes exactly once, never inside this
    /// call. What a server shows after the time for it is taken away again.
    package func show(_ banner: Banner, replacing old: Handle? = nil, then: @escaping Completion) {
        switch machine.route {
        case .freedesktop(let owner, let server): notify(banner, owner, server, replacing: old, then)
        case .gtk(let owner): add(banner, owner, replacing: old, then)
        case .undecided:
            let error = bus.problem ?? BusError(.absent, "the notification server has not said yet what it can do")
            Bus.later { then(.failure(error)) }
        case .none(let error):
            carryOut(machine.wanted())
            Bus.later { then(.failure(error)) }
        }
    }

    private func notify(
        _ banner: Banner, _ owner: String, _ server: NotificationServer, replacing old: Handle?,
        _ then: @escaping Completion
    ) {
        let request = BannerRequest(banner, of: identity, for: server)
        let replaced = number(of: old, life: server.life)
        let waiting = WaitingBanner("the notification server shows no banner in time", answerMilliseconds, then)
        // Longer than is waited: what comes late is to be known.
        call(owner, "Notify", request.arguments(replacing: replaced ?? 0), within: 6 * answerMilliseconds) {
            [weak self] result in
            var fields = BusFields((try? result.get()) ?? [])
            guard let number = try? fields.uint32(), number > 0 else {
                return waiting.end(.failure(Self.failure(result)))
            }
            guard waiting.isWaiting else {
                // Nobody knows of it any more; unless it is one that was shown before, or has been since.
                if let self, !self.shown.contains(number) { self.closeNumber(number, owner) }
                return
            }
            let handle = Handle(.number(number, life: server.life))
            if let self, self.isStarted {
                if self.shownLife == server.life {
                    if let replaced, replaced != number { self.shown.forget(replaced) }
                    self.shown.shown(number, replyID: request.replyID)
                }
                if let old, replaced == nil { self.close(old) }
            }
            waiting.end(.success(handle))
        }
    }

    private func add(_ banner: Banner, _ owner: String, replacing old: Handle?, _ then: @escaping Completion) {
        guard let application, let id = GTKBannerRequest.encoded(banner.id) else {
            return Bus.later { then(.failure(BusError(.invalid, "a banner's id is empty or too long"))) }
        }
        let waiting = WaitingBanner("the notification server shows no banner in time", answerMilliseconds, then)
        let call = BusCall(
            owner, GTKBannerRequest.path, GTKBannerRequest.name, "AddNotification",
            [.text(application.id.text), .text(id), GTKBannerRequest.notification(banner, id: id)])
        // Shown late is no harm here: another under the same id takes its place.
        bus.call(call, within: answerMilliseconds) { [weak self] result in
            switch result {
            case .success:
                let handle = Handle(.id(id))
                if let self, let old, old != handle { self.close(old) }
                waiting.end(.success(handle))
            case .failure(let error):
                guard let self, error.code == .refused else { return waiting.end(.failure(error)) }
                // It shows nothing of programs without a .desktop file.
                self.carryOut(self.machine.gtkRefused(owner: owner))
                guard waiting.isWaiting, case .freedesktop(let owner, let server) = self.machine.route else {
                    return waiting.end(.failure(error))
                }
                self.notify(banner, owner, server, replacing: old) { waiting.end($0) }
            }
        }
    }

    private static func failure(_ result: Result<[BusValue], BusError>) -> BusError {
        if case .failure(let error) = result { return error }
        return BusError(.malformed, "the notification server answers with something else than a number")
    }

    private func number(of handle: Handle?, life: String) -> UInt32? {
        guard case .number(let number, life)? = handle?.target else { return nil }
        return number
    }

    // MARK: Taking away

    /// Takes a banner away, if its server still shows it.
    package func close(_ handle: Handle) {
        switch handle.target {
        case .number(let number, let life):
            guard let (owner, server) = machine.server, server.life == life else { return }
            closeNumber(number, owner)
        case .id(let id):
            guard let application, let owner = gtk?.owner else { return }
            let call = BusCall(
                owner, GTKBannerRequest.path, GTKBannerRequest.name, "RemoveNotification",
                [.text(application.id.text), .text(id)])
            bus.call(call, within: answerMilliseconds) { [weak self] result in
                // It tells nobody of it.
                if case .success = result { self?.tell(.closed(handle)) }
            }
        }
    }

    private func closeNumber(_ number: UInt32, _ owner: String) {
        call(owner, "CloseNotification", [.uint32(number)], within: answerMilliseconds) { [weak self] result in
            // Refused: it was gone before. Otherwise a signal tells.
            guard let self, case .failure(let error) = result, error.code == .refused, self.shown.forget(number) else {
                return
            }
            self.tell(.closed(Handle(.number(number, life: self.shownLife))))
        }
    }

    /// Follows a banner that an earlier run has shown: what is done with it is told, if its server still lives.
    /// `replyID`: that of its text field. To be called before ``start()``.
    package func adopt(_ handle: Handle, replyID: String? = nil) {
        guard case .number = handle.target, adopted.count < ShownBanners.maximum else { return }
        adopted.append((handle, replyID))
    }

    // MARK: The badge

    /// The number at the program's icon; 0 = none. Without an application's name nothing can have one.
    package func setBadge(_ count: Int64) {
        badge?.set(count)
    }

    // MARK: What the servers say

    private func tell(_ event: Event) {
        if isStarted { handler(event) }
    }

    private func takeGTK(_ event: BusService.Event) {
        switch event {
        case .appeared: carryOut(machine.gtkAppeared(owner: gtk?.owner ?? ""))
        case .gone: carryOut(machine.gtkGone())
        case .signal: break
        }
    }

    private func take(_ event: BusService.Event) {
        switch event {
        case .appeared: carryOut(machine.appeared(owner: freedesktop?.owner ?? ""))
        case .gone(let error): carryOut(machine.gone(error))
        case .signal(let signal): take(signal)
        }
    }

    private func take(_ signal: BusService.Signal) {
        // Numbers of a life that is not yet known may be anybody's.
        guard signal.path == NotificationServer.path, machine.server?.server.life == shownLife else { return }
        var fields = BusFields(signal.values)
        guard let number = try? fields.uint32() else { return }
        let handle = Handle(.number(number, life: shownLife))
        switch signal.member {
        case "NotificationClosed":
            switch shown.closed(number, reason: (try? fields.uint32()) ?? 0) {
            case .dismissed: tell(.responded(handle, .dismiss))
            case .closed: tell(.closed(handle))
            case .none: break
            }
        case "ActionInvoked":
            guard let key = try? fields.text(), let response = shown.invoked(number, key: key) else { return }
            tell(.responded(handle, response))
        case "NotificationReplied":
            guard let text = try? fields.text(limit: BusReader.maximumBytes),
                let response = shown.replied(number, text: text)
            else { return }
            tell(.responded(handle, response))
        default: break
        }
    }

    private func take(_ event: Application.Event) -> Bool {
        switch event {
        case .activated: return true
        case .problem(let error):
            tell(.nameProblem(error))
            return true
        case .action(let name, let parameters):
            guard let answer = GTKBannerRequest.answer(name, parameters) else { return false }
            tell(.activated(id: answer.id, action: answer.action, text: nil))
            return true
        }
    }

    // MARK: What is done

    private func carryOut(_ actions: [BannerRouteStateMachine.Action]) {
        for action in actions {
            switch action {
            case .ask(let owner, let round): ask(owner, round)
            case .askLater: again.start(after: Self.pauseMilliseconds)
            case .startServer: startServer()
            case .ready(let name, let capabilities): tell(.ready(name: name, capabilities: capabilities))
            case .gone(let error): tell(.gone(error))
            }
        }
    }

    private func startServer() {
        guard !isStarting else { return }
        isStarting = true
        bus.call(
            BusCall(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "StartServiceByName",
                [.text(NotificationServer.name), .uint32(0)])
        ) { [weak self] _ in
            // If it was, it appears; if not, nothing is otherwise than before.
            self?.isStarting = false
        }
    }

    private func ask(_ owner: String, _ round: Int) {
        let driver = BusCall("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId")
        bus.call(driver, within: answerMilliseconds) { [weak self] result in
            var fields = BusFields((try? result.get()) ?? [])
            // The same names come again on another bus, as they do after a restart of the machine.
            let life = ((try? fields.text(limit: 64)) ?? "") + owner
            self?.call(owner, "GetServerInformation", [], within: self?.answerMilliseconds ?? 0) { [weak self] result in
                guard let self, let information = self.readable(result, round) else { return }
                self.call(owner, "GetCapabilities", [], within: self.answerMilliseconds) { [weak self] result in
                    guard let self, let capabilities = self.readable(result, round), round == self.machine.round
                    else { return }
                    let server = NotificationServer(
                        information: information, capabilities: capabilities, life: life)
                    self.follow(life)
                    self.carryOut(self.machine.answered(round: round, server))
                }
            }
        }
    }

    /// An error is an answer, too: that of a server which can do the least.
    private func readable(_ result: Result<[BusValue], BusError>, _ round: Int) -> [BusValue]? {
        switch result {
        case .success(let values): return values
        case .failure(let error):
            switch error.code {
            case .refused, .malformed, .tooLarge: return []
            default:
                carryOut(machine.notAnswered(round: round, error))
                return nil
            }
        }
    }

    private func follow(_ life: String) {
        guard life != shownLife else { return }
        shown.clear()
        shownLife = life
        for (handle, replyID) in adopted {
            if let number = number(of: handle, life: life) { shown.shown(number, replyID: replyID) }
        }
        adopted = []
    }

    private func call(
        _ owner: String, _ member: String, _ arguments: [BusValue], within limit: UInt64,
        then: @escaping Bus.Completion
    ) {
        bus.call(
            BusCall(owner, NotificationServer.path, Self.interface, member, arguments), within: limit, then: then)
    }
}

/// The way from a part that is made before its owner is.
@EventLoop
private final class ApplicationCalls {
    weak var owner: BannerServer?
}

/// A banner that is to be shown within a time: its end is told once.
@EventLoop
private final class WaitingBanner {
    private var then: BannerServer.Completion?
    private var deadline: LoopTimer?

    init(_ expiry: String, _ milliseconds: UInt64, _ then: @escaping BannerServer.Completion) {
        self.then = then
        let deadline = LoopTimer { [self] in end(.failure(BusError(.timeout, expiry))) }
        deadline.start(after: milliseconds)
        self.deadline = deadline
    }

    var isWaiting: Bool { then != nil }

    func end(_ result: Result<BannerServer.Handle, BusError>) {
        guard let then else { return }
        self.then = nil
        deadline = nil
        then(result)
    }
}
