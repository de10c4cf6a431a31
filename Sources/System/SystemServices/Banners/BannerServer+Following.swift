import Transport

extension BannerServer {
    func takeGTK(_ event: BusService.Event) {
        switch event {
        case .appeared: carryOut(machine.gtkAppeared(owner: gtk?.owner ?? ""))
        case .gone(let error): carryOut(machine.gtkGone(error))
        case .signal: break
        }
    }

    func take(_ event: BusService.Event) {
        switch event {
        case .appeared: carryOut(machine.appeared(owner: freedesktop?.owner ?? ""))
        case .gone(let error):
            // Without the bus, the server may still show them.
            if error.code == .absent { lose(exceptIn: nil) }
            carryOut(machine.gone(error))
        case .signal(let signal): take(signal)
        }
    }

    private func take(_ signal: BusService.Signal) {
        // Numbers of a life that is not yet known may be anybody's.
        guard signal.path == NotificationServer.path, machine.server?.server.life == followed.life else { return }
        var fields = BusFields(signal.values)
        guard let number = try? fields.uint32() else { return }
        let handle = Handle(.number(number, life: followed.life))
        switch signal.member {
        case "NotificationClosed":
            defer { pending.placeFreed() }
            switch followed.shown.closed(number, reason: (try? fields.uint32()) ?? 0) {
            case .dismissed: tell(.responded(handle, .dismiss))
            case .closed: tell(.closed(handle))
            case .none: break
            }
        case "ActionInvoked":
            guard let key = try? fields.text(), let response = followed.shown.invoked(number, key: key) else { return }
            answered(handle, response)
        case "NotificationReplied":
            guard let text = try? fields.text(limit: BusReader.maximumBytes),
                let response = followed.shown.replied(number, text: text)
            else { return }
            answered(handle, response)
        default: break
        }
    }

    private func answered(_ handle: Handle, _ response: Response) {
        // Most servers take away what was answered; some leave it on the screen, as dunst does.
        close(handle)
        tell(.responded(handle, response))
    }

    func take(_ event: Application.Event) -> Bool {
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

    func carryOut(_ actions: [BannerRouteStateMachine.Action]) {
        for action in actions {
            switch action {
            case .ask(let owner, let round): ask(owner, round)
            case .askLater: again.start(after: pauseMilliseconds)
            case .startServer: startServer()
            case .ready(let name, let capabilities): tell(.ready(name: name, capabilities: capabilities))
            case .gone(let error): tell(.gone(error))
            }
        }
        if case .freedesktop = machine.route {} else { undecided.banners += pending.takeAll() }
        sendHeld()
        tellDecided()
    }

    func tellDecided() {
        guard !undecided.callers.isEmpty else { return }
        if isStarted, bus.problem == nil {
            if undecided.isStarting { return }
            if case .undecided = machine.route { return }
        }
        let all = undecided.callers
        undecided.callers = []
        Bus.later { for then in all { then() } }
    }

    private func startServer() {
        guard !undecided.isStarting else { return }
        undecided.isStarting = true
        bus.call(
            BusCall(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "StartServiceByName",
                [.text(NotificationServer.name), .uint32(0)])
        ) { [weak self] _ in
            // If it was, it appears; if not, nothing is otherwise than before.
            self?.undecided.isStarting = false
            self?.tellDecided()
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
        guard life != followed.life else { return }
        let adopted = followed.adopted
        lose(exceptIn: life)
        for (handle, replyID) in adopted {
            if let number = number(of: handle, life: life) { follow(number, replyID) }
        }
        pending.serverChanged()
    }

    /// The banners of other lives are gone.
    private func lose(exceptIn life: String?) {
        let isAny = followed.hasShown || followed.adopted.contains { $0.handle.isLost(exceptIn: life) }
        followed = FollowedBanners()
        followed.life = life ?? ""
        if isAny { tell(.lost(exceptIn: life)) }
    }

    func follow(_ number: UInt32, _ replyID: String?, isOrdinary: Bool = false) {
        followed.shown.shown(number, replyID: replyID, isOrdinary: isOrdinary)
        followed.hasShown = true
    }

    func call(
        _ owner: String, _ member: String, _ arguments: [BusValue], within limit: UInt64,
        then: @escaping Bus.Completion
    ) {
        bus.call(
            BusCall(owner, NotificationServer.path, NotificationServer.name, member, arguments), within: limit,
            then: then)
    }
}
