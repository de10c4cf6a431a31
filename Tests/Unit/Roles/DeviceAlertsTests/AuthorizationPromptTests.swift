import Alerts
import Hosting
import JSON
import Store
import TestSupport
import Testing
import Wire

@testable import DeviceAlerts

/// The question whether alerts may be shown, without a bus or a host.
@Suite struct AuthorizationPromptTests {
    private static let ready = PresenterState(kind: "system", isReady: true, capabilities: ["body", "actions"])

    private func prompt(_ kind: String = "system", _ stored: Authorization = .notDetermined) throws
        -> AuthorizationPrompt
    {
        AuthorizationPrompt(try sampleConfiguration(kind), stored: stored)
    }

    private func request(
        _ prompt: inout AuthorizationPrompt, _ replies: Replies, isProvisional: Bool = false,
        timeout: CallTimeout = 1_000,
        loopNow: UInt64 = 0
    ) -> [AuthorizationPrompt.Action] {
        prompt.request(
            isProvisional: isProvisional, timeout: timeout, now: 1, loopNow: loopNow, replies.then)
    }

    @Test("the person allows alerts on the screen: stored, then announced, then answered")
    func allowed() throws {
        var prompt = try prompt()
        let replies = Replies()
        #expect(run(request(&prompt, replies)) == ["timer 1000", "ask system"])
        let shown = prompt.serverKnown(Self.ready, number: 7, now: 1)
        #expect(run(shown) == ["show bellwire.authorization.7"])
        let question = key("bellwire.authorization.7", of: nil)
        #expect(run(prompt.shown(question, .success("h1"), now: 1)).isEmpty)
        // An answer to another question, as anybody on the bus can send it, is none.
        let foreign = prompt.answered(key("bellwire.authorization.8", of: nil), "bellwire.allow", now: 2)
        #expect(foreign == nil)
        let answer = prompt.answered(question, "bellwire.allow", now: 2)
        let actions = try #require(answer)
        #expect(run(actions) == ["withdraw h1", "store authorized"])
        #expect(replies.count == 0)
        let save = try #require(actions.compactMap(\.save).first)
        #expect(run(prompt.saved(save, .success(()), now: 2)) == ["post", "clock", "timer nil", "reply 1"])
        #expect(replies.json?["status"] == "authorized")
    }

    @Test("what the store does not take is not so, and whoever waits hears of it")
    func storeFails() throws {
        var prompt = try prompt("host")
        let (replies, decided) = (Replies(), Replies())
        prompt.hostAsks = true
        #expect(run(request(&prompt, replies)) == ["timer 1000", "ask host"])
        let actions = prompt.authorize(status: "authorized", until: 0, now: 2, decided.then)
        let save = try #require(actions.compactMap(\.save).first)
        #expect(prompt.current(2) == .authorized)
        #expect(run(prompt.saved(save, .failure(storeError), now: 2)) == ["timer nil", "reply 1", "reply 1"])
        #expect(prompt.current(2) == .notDetermined)
        #expect(replies.error?.code == .store && decided.error?.code == .store)
        // It may be asked again.
        #expect(run(request(&prompt, replies)) == ["timer 1000", "ask host"])
    }

    @Test("a denial is not asked again; provisionally nobody is asked")
    func withoutQuestion() throws {
        var denied = try prompt("system", .denied)
        let replies = Replies()
        #expect(run(request(&denied, replies)) == ["reply 1"])
        #expect(replies.error?.code == .denied)
        var quiet = try prompt()
        let actions = request(&quiet, replies, isProvisional: true)
        #expect(run(actions) == ["store provisional"])
        let save = try #require(actions.compactMap(\.save).first)
        #expect(run(quiet.saved(save, .success(()), now: 1)) == ["post", "clock", "reply 1"])
        #expect(replies.json?["status"] == "provisional")
    }

    @Test("nobody can ask: neither a callback, nor a server with buttons")
    func unsupported() throws {
        let replies = Replies()
        var host = try prompt("host")
        _ = run(request(&host, replies))
        #expect(replies.error?.code == .unsupported)
        var system = try prompt()
        _ = run(request(&system, replies))
        let plain = PresenterState(kind: "system", isReady: true, capabilities: ["body"])
        _ = run(system.serverKnown(plain, number: 1, now: 1))
        #expect(replies.count == 2 && replies.error?.code == .unsupported)
        _ = run(request(&system, replies))
        let missing = PresenterState(kind: "system", isReady: false, problem: "no server")
        _ = run(system.serverKnown(missing, number: 1, now: 1))
        #expect(replies.error?.code == .offline && replies.error?.message == "no server")
        var gone = try prompt("host")
        gone.hostAsks = true
        _ = run(request(&gone, replies))
        _ = run(gone.hostGone(now: 1))
        #expect(replies.count == 4 && replies.error?.code == .offline)
    }

    @Test("each waiter has a deadline of its own, and the answer counts for those who are left")
    func deadlines() throws {
        var prompt = try prompt("host")
        prompt.hostAsks = true
        let (short, long) = (Replies(), Replies())
        _ = run(request(&prompt, short, timeout: 100))
        #expect(run(request(&prompt, long, timeout: 500)) == ["timer 100"])
        #expect(run(prompt.expireWaiters(loopNow: 100)) == ["timer 500", "reply 1"])
        #expect(short.error?.code == .timeout && long.count == 0)
        _ = run(prompt.expireWaiters(loopNow: 500))
        #expect(long.error?.code == .timeout)
        // The question that nobody waits for any more is asked again.
        #expect(run(request(&prompt, long, loopNow: 600)) == ["timer 1600", "ask host"])
        #expect(run(prompt.end()) == ["reply 1"])
        #expect(long.error?.code == .closed)
    }

    @Test("a question that leaves the screen fails; one that appears too late is taken away")
    func question() throws {
        var prompt = try prompt()
        let replies = Replies()
        _ = run(request(&prompt, replies))
        _ = prompt.serverKnown(Self.ready, number: 1, now: 1)
        let first = key("bellwire.authorization.1", of: nil)
        _ = prompt.shown(first, .success("h1"), now: 1)
        // A new server does not have it: asked again, in its place.
        #expect(run(prompt.presenterReady(now: 1)) == ["ask system"])
        #expect(run(prompt.serverKnown(Self.ready, number: 2, now: 1)) == ["show bellwire.authorization.2 at h1"])
        #expect(run(prompt.shown(first, .success("h9"), now: 1)) == ["withdraw h9"])
        let second = key("bellwire.authorization.2", of: nil)
        _ = prompt.shown(second, .success("h2"), now: 1)
        #expect(run(prompt.presenterGone("gone", now: 1)) == ["withdraw h2", "timer nil", "reply 1"])
        #expect(replies.error?.message == "gone")
        _ = run(request(&prompt, replies))
        _ = prompt.serverKnown(Self.ready, number: 3, now: 1)
        let closed = prompt.answered(key("bellwire.authorization.3", of: nil), nil, now: 1)
        _ = run(try #require(closed))
        #expect(replies.count == 2 && replies.error?.code == .timeout)
    }

    @Test("without a server that can ask, whoever waits hears so at once, and the next server asks")
    func waitsForServer() throws {
        var prompt = try prompt()
        let replies = Replies()
        let missing = PresenterState(kind: "system", isReady: false, problem: "no server")
        let plain = PresenterState(kind: "system", isReady: true, capabilities: ["body"])
        #expect(run(prompt.presenterReady(now: 1)).isEmpty, "nobody wants to be asked")
        _ = run(request(&prompt, replies))
        #expect(run(prompt.serverKnown(missing, number: 1, now: 1)) == ["timer nil", "reply 1"])
        #expect(replies.error?.code == .offline)
        #expect(run(prompt.presenterReady(now: 2)) == ["ask system"])
        #expect(run(prompt.serverKnown(plain, number: 2, now: 2)) == ["timer nil"])
        #expect(run(prompt.presenterReady(now: 3)) == ["ask system"])
        #expect(run(prompt.serverKnown(Self.ready, number: 3, now: 3)) == ["show bellwire.authorization.3"])
        let question = key("bellwire.authorization.3", of: nil)
        _ = prompt.shown(question, .success("h1"), now: 3)
        let answered = prompt.answered(question, "bellwire.allow", now: 3)
        let actions = try #require(answered)
        #expect(run(actions) == ["withdraw h1", "store authorized"])
        #expect(run(prompt.presenterReady(now: 4)).isEmpty, "it was answered")
        // The host's own decision ends the wait.
        var decided = try self.prompt()
        _ = run(request(&decided, replies))
        _ = run(decided.serverKnown(missing, number: 1, now: 1))
        _ = decided.authorize(status: "denied", until: 0, now: 1, replies.then)
        #expect(run(decided.presenterReady(now: 2)).isEmpty)
    }

    @Test("the question names the program in the user's language, and there is nothing to open")
    func words() throws {
        var prompt = AuthorizationPrompt(try sampleConfiguration("system", language: .german), stored: .notDetermined)
        _ = request(&prompt, Replies())
        guard case .show(let alert, _)? = prompt.serverKnown(Self.ready, number: 1, now: 1).first else {
            return #expect(Bool(false), "nothing is asked")
        }
        #expect(alert.content.title == "Program möchte Ihnen Nachrichten anzeigen" && alert.tapTitle == nil)
        #expect(alert.actions.map(\.title) == ["Erlauben", "Nicht erlauben"])
    }

    @Test("an ephemeral authorization ends, and with \"none\" nothing is announced")
    func ends() throws {
        var prompt = try prompt("host", .ephemeral(until: 100))
        #expect(prompt.nextEnd == 100 && run(prompt.expire(now: 99)).isEmpty)
        #expect(run(prompt.expire(now: 99, announcesAlways: true)) == ["post"])
        let actions = prompt.expire(now: 100)
        #expect(run(actions) == ["store notDetermined"])
        let save = try #require(actions.compactMap(\.save).first)
        #expect(run(prompt.saved(save, .success(()), now: 100)) == ["post", "clock"])
        var none = try self.prompt("none")
        let decided = none.authorize(status: "denied", until: 0, now: 1, Replies().then)
        let denied = try #require(decided.compactMap(\.save).first)
        #expect(run(none.saved(denied, .success(()), now: 1)) == ["clock", "reply 1"])
    }

    /// Carries replies out, and names what else there is to do.
    private func run(_ actions: [AuthorizationPrompt.Action]) -> [String] {
        actions.compactMap { action in
            switch action {
            case .reply(let waiters, let result):
                for then in waiters { then(result) }
                return waiters.isEmpty ? nil : "reply \(waiters.count)"
            case .store(let save): return "store \(save.new.status.rawValue)"
            case .post: return "post"
            case .askHost: return "ask host"
            case .askSystem: return "ask system"
            case .show(let alert, let place): return "show \(alert.key.id.text)" + (place.map { " at \($0)" } ?? "")
            case .withdraw(_, let handle): return handle.map { "withdraw \($0)" }
            case .startTimer(let deadline): return "timer \(deadline.map { "\($0)" } ?? "nil")"
            case .armClock: return "clock"
            }
        }
    }
}

extension AuthorizationPrompt.Action {
    fileprivate var save: AuthorizationPrompt.Save? { if case .store(let save) = self { save } else { nil } }
}
