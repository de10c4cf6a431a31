import Transport

extension BannerServer {
    /// Banners that wait until it is known which server shows them.
    private static let maximumHeld = 256

    /// Shows a banner, in the place of another if that is still there. `then` comes exactly once, never inside this
    /// call. What a server shows after the time for it is taken away again. While the server is busy or full, the banner
    /// waits without limit, critical ones first.
    ///
    /// - Parameter isWanted: asked right before the banner is sent to a server, and while it waits.
    package func show(
        _ banner: Banner, replacing old: Handle? = nil, if isWanted: @escaping @EventLoop () -> Bool = { true },
        then: @escaping Completion
    ) {
        let waiting = WaitingBanner(banner, replacing: old, if: isWanted, within: answerMilliseconds, then)
        guard bus.problem == nil, case .undecided = machine.route else { return send(waiting) }
        hold(waiting)
    }

    private func hold(_ waiting: WaitingBanner) {
        undecided.banners.removeAll { !$0.isWaiting }
        guard undecided.banners.count < Self.maximumHeld else {
            return end(waiting, BusError(.tooMany, "too many banners wait for the notification server"))
        }
        undecided.banners.append(waiting)
    }

    /// Sends those that waited, once it is known where to.
    func sendHeld() {
        guard !undecided.banners.isEmpty else { return }
        if case .undecided = machine.route { return }
        let all = undecided.banners
        undecided.banners = []
        for waiting in all where waiting.isWaiting { send(waiting) }
    }

    private func send(_ waiting: WaitingBanner) {
        guard waiting.isWanted() else { return waiting.drop() }
        switch machine.route {
        case .freedesktop: pending.add(waiting)
        case .gtk(let owner): add(waiting, owner)
        case .undecided:
            end(waiting, bus.problem ?? BusError(.absent, "the search for a notification server has not started"))
        case .none(let error):
            carryOut(machine.wanted())
            end(waiting, error)
        }
    }

    private func end(_ waiting: WaitingBanner, _ error: BusError) {
        Bus.later { waiting.end(.failure(error)) }
    }

    func notify(_ waiting: WaitingBanner, _ ticket: BannerQueue.Ticket) {
        guard case .freedesktop(let owner, let server) = machine.route else {
            waiting.end(.failure(BusError(.absent, "the notification server is gone")))
            return pending.answered(ticket, isFull: false, waitsAgain: false)
        }
        let old = waiting.old
        let banner = waiting.banner
        let request = BannerRequest(banner, of: identity, for: server)
        let replaced = number(of: old, life: server.life)
        waiting.isSent = true
        waiting.ends(within: 6 * answerMilliseconds)
        // Longer than is waited: what comes late is to be known.
        call(owner, "Notify", request.arguments(replacing: replaced ?? 0), within: 12 * answerMilliseconds) {
            [weak self] result in
            let isFull = Self.isFull(result)
            let waitsAgain = isFull && self?.isStarted == true && waiting.isWaiting && waiting.isWanted()
            defer { self?.pending.answered(ticket, isFull: isFull, waitsAgain: waitsAgain) }
            if waitsAgain {
                waiting.isSent = false
                return waiting.waitsWithoutLimit()
            }
            if isFull { return waiting.drop() }
            var fields = BusFields((try? result.get()) ?? [])
            guard let number = try? fields.uint32(), number > 0 else {
                return waiting.end(.failure(Self.failure(result)))
            }
            guard waiting.isWaiting else {
                // Forgets the banner, unless it was shown before or has been shown since.
                if let self, !self.followed.shown.contains(number) { self.closeNumber(number, owner) }
                return
            }
            let handle = Handle(.number(number, life: server.life))
            if let self, self.isStarted {
                if self.followed.life == server.life {
                    if let replaced, replaced != number { self.followed.shown.forget(replaced) }
                    self.follow(number, request.replyID, isOrdinary: banner.isOrdinary)
                }
                if let old, replaced == nil { self.close(old) }
            }
            waiting.end(.success(handle))
        }
    }

    private func add(_ waiting: WaitingBanner, _ owner: String) {
        let banner = waiting.banner
        guard let application, let id = GTKBannerRequest.encoded(banner.id) else {
            return end(waiting, BusError(.invalid, "a banner's id is empty or too long"))
        }
        let call = BusCall(
            owner, GTKBannerRequest.path, GTKBannerRequest.name, "AddNotification",
            [.text(application.id.text), .text(id), GTKBannerRequest.notification(banner, id: id)])
        // Shown late is no harm here: another under the same id takes its place.
        bus.call(call, within: answerMilliseconds) { [weak self] result in
            switch result {
            case .success:
                let handle = Handle(.id(id))
                if let self, let old = waiting.old, old != handle { self.close(old) }
                waiting.end(.success(handle))
            case .failure(let error):
                guard let self, self.isStarted, error.code == .refused, waiting.isWaiting else {
                    return waiting.end(.failure(error))
                }
                // It shows nothing of programs without a .desktop file: the other one does.
                self.hold(waiting)
                self.carryOut(self.machine.gtkRefused(owner: owner))
                self.sendHeld()
            }
        }
    }

    /// The server shows as many banners as it can, and may show this one later.
    private static func isFull(_ result: Result<[BusValue], BusError>) -> Bool {
        guard case .failure(let error) = result else { return false }
        return error.remoteName?.hasSuffix(".MaxNotificationsExceeded") == true
    }

    private static func failure(_ result: Result<[BusValue], BusError>) -> BusError {
        if case .failure(let error) = result { return error }
        return BusError(.malformed, "the notification server returned an invalid id")
    }

    func number(of handle: Handle?, life: String) -> UInt32? {
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

    func closeOldestOrdinary() {
        if let (owner, _) = machine.server, let oldest = followed.shown.oldestOrdinary { closeNumber(oldest, owner) }
    }

    private func closeNumber(_ number: UInt32, _ owner: String) {
        call(owner, "CloseNotification", [.uint32(number)], within: answerMilliseconds) { [weak self] result in
            // Refused: it was gone before. Otherwise a signal tells.
            guard let self, case .failure(let error) = result, error.code == .refused,
                self.followed.shown.forget(number)
            else {
                return
            }
            self.tell(.closed(Handle(.number(number, life: self.followed.life))))
            self.pending.placeFreed()
        }
    }

    /// Follows a banner that an earlier run has shown: the user's response is reported if its server is still running.
    /// `replyID` is the id of its text field. At most 1,024 wait for the server to identify itself.
    package func adopt(_ handle: Handle, replyID: String? = nil) {
        guard case .number(let number, let life) = handle.target else { return }
        if life == followed.life {
            follow(number, replyID)
        } else if followed.adopted.count < ShownBanners.maximum {
            followed.adopted.append((handle, replyID))
        }
    }
}

/// A banner that is to be shown: its end is reported once.
@EventLoop
final class WaitingBanner {
    let banner: Banner
    let old: BannerServer.Handle?
    let isWanted: @EventLoop () -> Bool
    /// Its call is in progress.
    var isSent = false
    private var then: BannerServer.Completion?
    private var deadline: LoopTimer?

    init(
        _ banner: Banner, replacing old: BannerServer.Handle?, if isWanted: @escaping @EventLoop () -> Bool,
        within milliseconds: UInt64,
        _ then: @escaping BannerServer.Completion
    ) {
        self.banner = banner
        self.old = old
        self.isWanted = isWanted
        self.then = then
        ends(within: milliseconds)
    }

    var isWaiting: Bool { then != nil }

    func ends(within milliseconds: UInt64) {
        guard isWaiting else { return }
        let deadline = LoopTimer { [self] in
            end(.failure(BusError(.timeout, "the notification server did not show the banner in time")))
        }
        deadline.start(after: milliseconds)
        self.deadline = deadline
    }

    func waitsWithoutLimit() { deadline = nil }

    /// It is no longer wanted.
    func drop() {
        Bus.later { self.end(.failure(BusError(.closed, "the banner is no longer wanted"))) }
    }

    func end(_ result: Result<BannerServer.Handle, BusError>) {
        guard let then else { return }
        self.then = nil
        deadline = nil
        then(result)
    }
}
