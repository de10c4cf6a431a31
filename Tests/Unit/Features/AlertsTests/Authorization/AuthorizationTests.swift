import Alerts
import JSON
import TestSupport
import Testing
import Wire

@Suite struct AuthorizationTests {
    private typealias Machine = AuthorizationStateMachine

    @Test("each status has its advice, and says whether alerts are shown")
    func advice() {
        #expect(Authorization.notDetermined.advice == .explain && !Authorization.notDetermined.allowsAlerts)
        #expect(Authorization.denied.advice == .settings && !Authorization.denied.allowsAlerts)
        #expect(Authorization.authorized.advice == .register && Authorization.authorized.allowsAlerts)
        #expect(Authorization.provisional.advice == .upgrade && Authorization.provisional.allowsAlerts)
        let ephemeral = Authorization.ephemeral(until: 100)
        #expect(ephemeral.advice == .register && ephemeral.allowsAlerts)
        #expect(ephemeral.json(99) == ["status": "ephemeral", "until": 100, "advice": "register"])
        #expect(ephemeral.json(100) == ["status": "notDetermined", "advice": "explain"])
    }

    @Test("a host's words are taken strictly, what is stored is read whatever it is")
    func reading() throws {
        #expect(try Authorization(status: "denied", until: 0) == .denied)
        #expect(try Authorization(status: "ephemeral", until: 5) == .ephemeral(until: 5))
        let wrong: [(String, EpochMilliseconds, String)] = [
            ("", 0, "status"), ("yes", 0, "status"), ("Denied", 0, "status"), ("ephemeral", 0, "until_ms"),
            ("denied", 5, "until_ms"), ("ephemeral", -1, "until_ms"), ("denied", .min, "until_ms"),
        ]
        for (status, until, field) in wrong {
            let error = #expect(throws: AlertsError.self) { try Authorization(status: status, until: until) }
            #expect(error?.field == field)
        }
        for authorization in [.notDetermined, .denied, .authorized, .provisional, Authorization.ephemeral(until: 7)] {
            #expect(Authorization(stored: authorization.stored) == authorization)
        }
        #expect(Authorization(stored: ["status": "ephemeral"]) == .notDetermined)
        #expect(Authorization(stored: ["status": "denied", "until": 5]) == .denied)
        for value in HostileJSON.values {
            #expect(
                Authorization(stored: ["status": value, "until": value]).status == .notDetermined
                    || value == "ephemeral")
        }
    }

    @Test("the first request asks, the second waits for the same answer, later ones know it")
    func asking() {
        var machine = Machine(stored: .notDetermined)
        #expect(machine.request(provisional: false, now: 0) == .ask)
        #expect(machine.request(provisional: false, now: 1) == .wait)
        #expect(machine.request(provisional: true, now: 1) == .wait)
        #expect(machine.decided(.authorized, now: 2) == .store(.authorized))
        #expect(machine.request(provisional: false, now: 3) == .answer(.authorized))
        #expect(!machine.isAsking)
    }

    @Test("a denial is not asked again; the page of settings may change it")
    func denial() {
        var machine = Machine(stored: .notDetermined)
        #expect(machine.request(provisional: false, now: 0) == .ask)
        #expect(machine.decided(.denied, now: 0) == .store(.denied))
        #expect(machine.request(provisional: false, now: 1) == .denied(.denied))
        #expect(machine.request(provisional: true, now: 1) == .denied(.denied))
        #expect(machine.decided(.authorized, now: 2) == .store(.authorized))
        #expect(machine.decided(.authorized, now: 3) == .none)
    }

    @Test("provisional is there at once, and can be raised")
    func provisional() {
        var machine = Machine(stored: .notDetermined)
        #expect(machine.request(provisional: true, now: 0) == .store(.provisional))
        #expect(machine.request(provisional: true, now: 0) == .answer(.provisional))
        #expect(machine.request(provisional: false, now: 0) == .ask)
        machine.askFailed()
        #expect(machine.current(0) == .provisional && !machine.isAsking)
        #expect(machine.request(provisional: false, now: 0) == .ask)
        #expect(machine.decided(.authorized, now: 0) == .store(.authorized))
    }

    @Test("an ephemeral one ends at its moment, also while nothing ran, and is told once")
    func ephemeral() {
        var machine = Machine(stored: .ephemeral(until: 1_000))
        #expect(machine.nextEnd == 1_000)
        #expect(machine.request(provisional: false, now: 999) == .answer(.ephemeral(until: 1_000)))
        #expect(machine.expired(now: 999) == .none)
        #expect(machine.current(1_000) == .notDetermined)
        #expect(machine.expired(now: 1_000) == .store(.notDetermined))
        #expect(machine.expired(now: 1_000) == .none && machine.nextEnd == nil)
        #expect(machine.request(provisional: false, now: 1_000) == .ask)
        // One that is over already when it is given was never there.
        #expect(machine.decided(.ephemeral(until: 500), now: 1_000) == .none)
    }

    /// What the machine is promised to do, said another way: a log of what was stored, and a flag.
    @Test(
        "random sequences: asked only where nobody has answered, told exactly what has changed",
        arguments: 0..<32 as Range<UInt64>)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var machine = Machine(stored: .notDetermined)
        var now: EpochMilliseconds = 1_000
        var stored: [Authorization] = [.notDetermined]
        var isOpen = false
        func effective() -> Authorization {
            let last = stored.last ?? .notDetermined
            return last.until.map { $0 <= now } == true ? .notDetermined : last
        }
        for _ in 0..<1_000 {
            now += EpochMilliseconds.random(in: 0...300, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                let provisional = Bool.random(using: &random)
                let before = effective()
                switch machine.request(provisional: provisional, now: now) {
                case .answer(let answer):
                    #expect(answer == before && answer.allowsAlerts)
                    #expect(answer.status != .provisional || provisional)
                case .denied(let answer): #expect(answer == before && answer.status == .denied)
                case .ask:
                    #expect(!isOpen && [.notDetermined, .provisional].contains(before.status))
                    isOpen = true
                case .wait: #expect(isOpen && [.notDetermined, .provisional].contains(before.status))
                case .store(let new):
                    #expect(new == .provisional && provisional && before == .notDetermined && !isOpen)
                    stored.append(new)
                }
            case 2, 3:
                let choices: [Authorization] = [
                    .notDetermined, .denied, .authorized, .provisional,
                    .ephemeral(until: now + EpochMilliseconds.random(in: -100...900, using: &random)),
                ]
                let new = choices.randomElement(using: &random) ?? .denied
                switch machine.decided(new, now: now) {
                case .store(let told):
                    #expect(told != stored.last)
                    #expect(told == (new.until.map { $0 <= now } == true ? .notDetermined : new))
                    stored.append(told)
                case .none: #expect(machine.current(now) == effective())
                }
                isOpen = false
            case 4:
                machine.askFailed()
                isOpen = false
            default:
                if case .store(let told) = machine.expired(now: now) {
                    #expect(told == .notDetermined && stored.last?.status == .ephemeral)
                    stored.append(told)
                }
            }
            #expect(machine.current(now) == effective() && machine.isAsking == isOpen)
            #expect(machine.nextEnd == stored.last?.until)
        }
    }
}
