import Commands
import Hosting
import JSON
import Notifications
import TestSupport
import Testing
import Wire

@testable import Device

/// Commands under way, without connections or a clock.
struct CommandSenderTests {
    private typealias Sender = CommandSender<Int>

    private static let read = Device.Command(.getUnreadCount, wire: [:])
    private static let clear = Device.Command(.clearAll, wire: [:])
    private static let desk = DesktopReach(desktop: "desk", name: "Desk")

    private static func order(
        _ number: Int, _ command: Device.Command = clear, queueing: Sender.Queueing = .whenOffline,
        deadline: UInt64 = 10_000
    ) -> Sender.Order {
        Sender.Order(
            id: RequestID("c\(number)"), command: command, desktop: "desk", owner: number, deadline: deadline,
            expiresAt: 50_000, queueing: queueing)
    }

    private static func started() -> Sender {
        var sender = Sender()
        sender.start()
        return sender
    }

    /// What actions are, in short.
    private static func words(_ actions: [Sender.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .write(let order): "write \(order.id.text)"
            case .writeAgain(let order): "again \(order.id.text)"
            case .queue(let order, nil): "queue \(order.id.text)"
            case .queue(let order, let error?): "queue \(order.id.text) \(error.code.name)"
            case .end(let order, let outcome): "end \(order.id.text) \(word(outcome))"
            case .lacksSkill(let desktop): "lacks \(desktop.text)"
            case .revision(let revision, let desktop): "revision \(revision) \(desktop.text)"
            }
        }
    }

    private static func word(_ outcome: CommandOutcome) -> String {
        switch outcome {
        case .answered: "answered"
        case .queued: "queued"
        case .refused(let refusal): "refused \(refusal.error.code.name)"
        case .notSent(let error): "notSent \(error.code.name)"
        case .absent(let error): "absent \(error.code.name)"
        case .unanswered(_, let error): "unanswered \(error.code.name)"
        case .ended(_, let error): "ended \(error.code.name)"
        }
    }

    private static func result(_ number: Int, _ object: JSONObject) -> CommandResponse {
        CommandResponse(id: RequestID("c\(number)"), outcome: .result(.object(object)))
    }

    @Test("before it is sent: what can wait is queued where it must, a read fails, no skill is not asked")
    func perform() {
        func perform(_ command: Device.Command, isStarted: Bool = true, _ change: (inout DesktopReach) -> Void)
            -> [String]
        {
            var sender = isStarted ? Self.started() : Sender()
            var reach = Self.desk
            change(&reach)
            return Self.words(sender.perform(Self.order(1, command), reach: reach, now: 0))
        }
        #expect(perform(Self.clear) { _ in } == ["write c1"])
        #expect(perform(Self.clear, isStarted: false) { _ in } == ["queue c1"])
        #expect(perform(Self.clear) { $0.hasRoute = false } == ["queue c1"])
        #expect(perform(Self.clear) { $0.isAbsent = true } == ["queue c1"])
        #expect(perform(Self.clear) { $0.isQueueBusy = true } == ["queue c1"], "behind the others")
        #expect(perform(Self.clear) { $0.lacksSkill = true } == ["end c1 refused unsupported"])
        #expect(perform(Self.read) { $0.isQueueBusy = true } == ["write c1"])
        #expect(perform(Self.read) { $0.hasRoute = false } == ["end c1 notSent offline"])
        #expect(perform(Self.read, isStarted: false) { _ in } == ["end c1 notSent offline"])
        #expect(perform(Self.read) { $0.isAbsent = true } == ["write c1"], "it may be back")
    }

    @Test("one whose holder has just taken over waits for a route, and is sent under its id")
    func repeated() {
        func perform(
            _ attempt: CommandIdentity.Attempt, _ command: Device.Command = Self.read, isSecure: Bool = true,
            isStarted: Bool = true
        ) -> (Sender, [String]) {
            var sender = isStarted ? Self.started() : Sender()
            var away = Self.desk
            (away.isSecure, away.hasRoute) = (isSecure, false)
            var order = Self.order(1, command)
            order.attempt = attempt
            let told = Self.words(sender.perform(order, reach: away, now: 0))
            return (sender, told)
        }
        for attempt in [CommandIdentity.Attempt.delayed, .repeated] {
            var (sender, told) = perform(attempt)
            #expect(told == [])
            var here = Self.desk
            here.isSecure = true
            #expect(Self.words(sender.back("desk", reach: here, now: 10)) == ["again c1"])
            #expect(perform(attempt, isSecure: false).1 == ["end c1 notSent offline"])
        }
        #expect(perform(.first).1 == ["end c1 notSent offline"])
        #expect(perform(.delayed, isStarted: false).1 == ["end c1 notSent offline"])
        #expect(perform(.repeated, isStarted: false).1 == ["end c1 refused offline"], "it may have been executed")
        #expect(perform(.delayed, Self.clear).1 == ["queue c1"], "it has not been sent")
        #expect(perform(.repeated, Self.clear).1 == [], "nobody knows whether it was sent")
    }

    @Test("a notification waits where its program has asked for that and the desktop executes it once")
    func waitingSends() throws {
        let asked = try Device.Command(.send, JSONObject(#"{"title":"T","queueMs":5000}"#))
        let unasked = try Device.Command(.send, JSONObject(#"{"title":"T"}"#))
        #expect(asked.params == unasked.params, "the wire has none of it")
        #expect(asked.queueTime == 5_000)
        for text in ["0", "86400001", #""1""#] {
            #expect(throws: HostError.self) {
                try Device.Command(.send, JSONObject(#"{"title":"T","queueMs":\#(text)}"#))
            }
        }
        for (command, isSecure, queues) in [(asked, true, true), (asked, false, false), (unasked, true, false)] {
            var away = Self.desk
            (away.isSecure, away.hasRoute) = (isSecure, false)
            var sender = Self.started()
            let told = Self.words(sender.perform(Self.order(1, command), reach: away, now: 0))
            #expect(told == [queues ? "queue c1" : "end c1 notSent offline"])
            var here = Self.desk
            here.isSecure = isSecure
            _ = sender.perform(Self.order(2, command), reach: here, now: 0)
            sender.wrote("c2", over: "home")
            let lost = Self.words(sender.lost("desk", reach: away))
            #expect(lost == (isSecure ? [] : ["end c2 unanswered offline"]), "sent again, under its id")
            let late = Self.words(sender.tick(now: 20_000) { _ in away })
            #expect(late == (isSecure ? [queues ? "queue c2" : "end c2 unanswered timeout"] : []))
        }
    }

    @Test("a command that could not be written is queued where waiting helps")
    func notWritten() {
        for (error, end) in [
            (HostError(.offline, "busy"), "queue c1"), (HostError(.limit, "large"), "end c1 notSent limit"),
            (HostError(.unsupported, "no key"), "end c1 notSent unsupported"),
        ] {
            var sender = Self.started()
            _ = sender.perform(Self.order(1), reach: Self.desk, now: 0)
            #expect(Self.words(sender.notWritten("c1", error, reach: Self.desk)) == [end])
            #expect(Self.words(sender.notWritten("c1", error, reach: Self.desk)).isEmpty)
        }
    }

    @Test("answers: results, refusals, what can't be read, what is learned by the way, and answers of others")
    func answers() {
        var sender = Self.started()
        for number in 1...5 {
            _ = sender.perform(Self.order(number, number == 1 ? Self.read : Self.clear), reach: Self.desk, now: 0)
        }
        func answered(_ response: CommandResponse, by desktop: PeerID = "desk") -> [String] {
            Self.words(sender.answered(response, by: desktop, reach: Self.desk, now: 1))
        }
        #expect(answered(Self.result(1, ["count": 3]), by: "other").isEmpty)
        #expect(answered(Self.result(1, ["count": "many"])) == ["end c1 refused protocol"])
        #expect(
            answered(Self.result(2, ["success": true, "clearedCount": 1, "revision": 7])) == ["end c2 answered"])
        let refused = CommandResponse(id: "c3", outcome: .error(RemoteError(.denied, "no")))
        #expect(answered(refused) == ["end c3 refused denied"])
        let unknown = RemoteError(nil, "Unknown command namespace: notification")
        #expect(
            answered(CommandResponse(id: "c4", outcome: .error(unknown))) == [
                "lacks desk", "end c4 refused unsupported",
            ])
        // Of a frame that had a shorter life than the one that is still on its way.
        #expect(answered(CommandResponse(id: "c5", outcome: .error(.expired(40_000)))).isEmpty)
        #expect(answered(Self.result(5, ["success": true, "clearedCount": 1])) == ["end c5 answered"])
        #expect(sender.strayResponses == 1)
    }

    @Test("a relay's word that the desktop is absent ends a command, unless another route is left: then it takes that")
    func absent() {
        var sender = Self.started()
        _ = sender.perform(Self.order(1, Self.read), reach: Self.desk, now: 0)
        sender.wrote("c1", over: "home")
        #expect(Self.words(sender.absent("desk", over: "relay", reach: Self.desk)).isEmpty, "it did not go there")
        #expect(Self.words(sender.absent("desk", over: "home", reach: Self.desk)) == ["again c1"])
        sender.wrote("c1", over: "relay")
        var reach = Self.desk
        reach.isAbsent = true
        #expect(Self.words(sender.absent("desk", over: "relay", reach: reach)) == ["end c1 absent offline"])
        _ = sender.perform(Self.order(2), reach: Self.desk, now: 0)
        #expect(Self.words(sender.absent("desk", over: "home", reach: reach)) == ["queue c2"])
    }

    @Test("a route that breaks: a sealed desktop gets the command again, a deployed one may have carried it out")
    func lost() {
        for (isSecure, ends) in [(true, []), (false, ["end c1 unanswered offline", "queue c2 offline"])] {
            var reach = Self.desk
            reach.isSecure = isSecure
            var sender = Self.started()
            _ = sender.perform(Self.order(1), reach: reach, now: 0)
            _ = sender.perform(Self.order(2, queueing: .whenUnanswered), reach: reach, now: 0)
            reach.hasRoute = false
            #expect(Self.words(sender.lost("desk", reach: reach)) == ends)
            reach.hasRoute = true
            #expect(
                Self.words(sender.back("desk", reach: reach, now: 1)) == (isSecure ? ["again c1", "again c2"] : []))
        }
    }

    @Test("a session that begins: what was sent before it is sent again at once, what waits for it is not")
    func session() {
        var here = Self.desk
        here.isSecure = true
        var sender = Self.started()
        for number in 1...3 { _ = sender.perform(Self.order(number, Self.read), reach: here, now: 0) }
        sender.wrote("c1", over: "home")
        sender.wrote("c2", over: "home", waitsForSession: true)
        sender.wrote("c3", over: "home")
        let other = DesktopReach(desktop: "other", name: "Other")
        #expect(Self.words(sender.sessionBegan(with: "other", reach: other, now: 1)) == [])
        #expect(Self.words(sender.sessionBegan(with: "desk", reach: here, now: 1)) == ["again c1", "again c3"])
        #expect(
            Self.words(sender.sessionBegan(with: "desk", reach: here, now: 2)) == ["again c1", "again c2", "again c3"])
        here.isSecure = false
        _ = sender.perform(Self.order(4, Self.read), reach: here, now: 3)
        here.isSecure = true
        #expect(
            Self.words(sender.sessionBegan(with: "desk", reach: here, now: 4)) == ["again c1", "again c2", "again c3"],
            "it may carry c4 out twice")
    }

    @Test("without an answer in time: uncertain, or queued under its id where that is safe or wanted")
    func expired() {
        func expire(_ order: Sender.Order, _ change: (inout DesktopReach) -> Void = { _ in }) -> [String] {
            var sender = Self.started()
            _ = sender.perform(order, reach: Self.desk, now: 0)
            var reach: DesktopReach? = Self.desk
            if reach != nil { change(&reach!) }
            let actions = sender.tick(now: 10_000) { [reach] _ in reach }
            #expect(sender.nextDeadline == nil)
            return Self.words(actions)
        }
        #expect(expire(Self.order(1)) == ["end c1 unanswered timeout"])
        #expect(expire(Self.order(1, queueing: .whenUnanswered)) == ["queue c1 timeout"])
        #expect(expire(Self.order(1)) { $0.hasRoute = false } == ["queue c1"])
        #expect(expire(Self.order(1)) { ($0.hasRoute, $0.isSecure) = (false, false) } == ["end c1 unanswered timeout"])
        #expect(expire(Self.order(1, Self.read)) { $0.hasRoute = false } == ["end c1 unanswered timeout"])
        #expect(expire(Self.order(1, queueing: .never)) { $0.hasRoute = false } == ["end c1 unanswered timeout"])
    }

    @Test("stop queues what a sealed desktop knows by its id; unpair and close end everything")
    func ends() {
        func end(_ event: (inout Sender) -> [Sender.Action]) -> [String] {
            var sender = Self.started()
            _ = sender.perform(Self.order(1), reach: Self.desk, now: 0)
            return Self.words(event(&sender))
        }
        let stopped = HostError(.offline, "stopped")
        #expect(end { $0.stop(stopped) { _ in Self.desk } } == ["queue c1"])
        #expect(
            end { sender in
                sender.stop(stopped) { _ in
                    var reach = Self.desk
                    reach.isSecure = false
                    return reach
                }
            } == ["end c1 ended offline"])
        #expect(end { $0.forget("desk") } == ["end c1 ended not_found"])
        #expect(end { $0.close() } == ["end c1 ended closed"])
    }

    @Test("a desktop that moves to another key: what can wait is queued for the new id, the rest ends as offline")
    func moved() {
        var sender = Self.started()
        let new = DesktopReach(desktop: "new", name: "Desk")
        _ = sender.perform(Self.order(1), reach: Self.desk, now: 0)
        _ = sender.perform(Self.order(2, Self.read), reach: Self.desk, now: 0)
        _ = sender.send(Self.order(3, queueing: .never), reach: Self.desk, now: 0)
        let actions = sender.moved("desk", to: new)
        #expect(Self.words(actions) == ["queue c1", "end c2 ended offline", "end c3 ended offline"])
        guard case .queue(let order, _)? = actions.first else { return }
        #expect(order.desktop == "new")
        #expect(sender.moved("desk", to: new).isEmpty)
    }

    @Test("whatever happens, every command ends exactly once or goes into the queue once", arguments: 0..<200)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var sender = Self.started()
        var reach: DesktopReach = Self.desk
        var given: Set<Int> = []
        var over: [Int] = []
        var now: UInt64 = 0
        func act(_ actions: [Sender.Action]) {
            for action in actions {
                switch action {
                case .end(let order, _), .queue(let order, _): over.append(order.owner)
                case .write, .writeAgain, .lacksSkill, .revision: break
                }
            }
        }
        for number in 0..<300 {
            now += .random(in: 0...3_000, using: &generator)
            let any = Int.random(in: 0...number, using: &generator)
            switch Int.random(in: 0..<12, using: &generator) {
            case 0...3:
                given.insert(number)
                let command = [Self.read, Self.clear].randomElement(using: &generator) ?? Self.read
                let queueing = [Sender.Queueing.never, .whenOffline, .whenUnanswered].randomElement(using: &generator)
                let order = Self.order(
                    number, command, queueing: queueing ?? .never,
                    deadline: now + .random(in: 1...20_000, using: &generator))
                act(sender.perform(order, reach: reach, now: now))
                if Bool.random(using: &generator) { sender.wrote(order.id, over: "home") }
            case 4: act(sender.notWritten(RequestID("c\(any)"), HostError(.offline, "busy"), reach: reach))
            case 5, 6:
                act(sender.answered(Self.result(any, ["success": true, "count": 1]), by: "desk", reach: reach, now: 1))
            case 7:
                reach.isAbsent.toggle()
                if reach.isAbsent { act(sender.absent("desk", over: "home", reach: reach)) }
            case 8:
                reach.hasRoute.toggle()
                act(reach.hasRoute ? sender.back("desk", reach: reach, now: now) : sender.lost("desk", reach: reach))
            case 9:
                let known = reach
                act(sender.tick(now: now) { _ in known })
            case 10: reach.isSecure.toggle()
            default: act(sender.back("desk", reach: reach, now: now))
            }
        }
        act(sender.close())
        #expect(Set(over) == given)
        #expect(over.count == given.count)
    }
}
