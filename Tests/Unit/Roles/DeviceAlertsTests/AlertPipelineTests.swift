import Alerts
import HTTPClient
import Hosting
import JSON
import Store
import Testing
import Wire

@testable import DeviceAlerts

/// Alerts on their way to the screen, without a loop, a store or a presenter.
@Suite struct AlertPipelineTests {
    private static let content = AlertContent(title: "Title", badge: 3)

    @Test("shown: recorded before it is told")
    func shown() throws {
        var pipeline = AlertPipeline(imageDirectory: nil)
        let actions = enter(&pipeline, alert(1, Self.content, handle: "old"))
        #expect(words(actions) == ["show 1 at old"] && pipeline.count == 1 && pipeline.presentingRows == [1])
        let done = pipeline.shown(try ticket(actions), .success("h1"), moment(1))
        #expect(words(done) == ["badge 3", "record 1 h1"] && pipeline.count == 0)
        let work = try work(done)
        #expect(words(stored(&pipeline, work, .success(.unused([])))) == ["tell n1 shown"])
        // Banners that the record displaced: unless another alert has their place.
        #expect(words(stored(&pipeline, work, .success(.unused(["h0"])))) == ["find h0", "tell n1 shown"])
        #expect(words(stored(&pipeline, work, .failure(storeError))) == ["tell n1 shown"])
    }

    @Test("a presenter that fails is tried again; the person's response ends that")
    func fails() throws {
        var pipeline = AlertPipeline(imageDirectory: nil)
        let ticket = try ticket(enter(&pipeline, alert(1)))
        let failure = Result<String?, PresenterError>.failure(PresenterError(message: "busy"))
        #expect(words(pipeline.shown(ticket, failure, moment(0))) == ["log"])
        #expect(pipeline.nextDeadline == 1_000 && words(pipeline.deadlineReached(moment(999))).isEmpty)
        #expect(words(pipeline.deadlineReached(moment(1_000))) == ["show 1"])
        pipeline.responded(to: 1)
        #expect(words(pipeline.shown(ticket, failure, moment(1_000))) == ["log", "tell n1 removed", "drop 1"])
        #expect(pipeline.counters.failed == 2 && pipeline.count == 0)
    }

    @Test("without a presenter it waits, for as long as it takes")
    func noPresenter() throws {
        var pipeline = AlertPipeline(imageDirectory: nil)
        let ticket = try ticket(enter(&pipeline, alert(1)))
        pipeline.noPresenter(ticket)
        #expect(pipeline.nextDeadline == nil && pipeline.presentingRows.isEmpty)
        #expect(words(pipeline.presenterReady(moment(99_000_000))) == ["show 1"])
    }

    @Test("replaced while it is being shown: its banner goes, unless the successor has it")
    func replaced() throws {
        var pipeline = AlertPipeline(imageDirectory: nil)
        let first = try ticket(enter(&pipeline, alert(1, id: "same")))
        #expect(words(pipeline.withdraw([key("same")], .replaced, moment(0))) == ["tell same replaced"])
        let second = try ticket(enter(&pipeline, alert(2, id: "same")))
        // The successor is on its way: it may get the same banner.
        #expect(words(pipeline.shown(first, .success("h1"), moment(1))).isEmpty)
        #expect(words(pipeline.shown(second, .success("h2"), moment(1))) == ["record 2 h2"])
        let third = try ticket(enter(&pipeline, alert(3)))
        #expect(words(pipeline.withdraw([key("n3")], .removed, moment(0))) == ["tell n3 removed", "drop 3"])
        let late = pipeline.shown(third, .success("h3"), moment(1))
        #expect(words(late) == ["find h3"])
        #expect(words(stored(&pipeline, try work(late), .success(.unused(["h3"])))) == ["withdraw h3"])
        #expect(words(stored(&pipeline, try work(late), .success(.unused([])))).isEmpty)
        #expect(words(pipeline.shown(third, .success("h3"), moment(2))).isEmpty)
    }

    @Test("in front, the host decides; what it does not want is told and dropped, its badge apart")
    func inFront() throws {
        var pipeline = AlertPipeline(imageDirectory: nil)
        pipeline.moved(toFront: true)
        #expect(words(enter(&pipeline, alert(1))) == ["show 1"])
        pipeline.hostDecides = true
        let asked = try ticket(enter(&pipeline, alert(2, Self.content)))
        let refused = pipeline.hostAnswered(asked, Presentation.badge.rawValue, moment(1))
        #expect(words(refused) == ["badge 3", "tell n2 will_present", "drop 2"])
        let listed = try ticket(enter(&pipeline, alert(3, handle: "old")))
        let list = pipeline.hostAnswered(listed, Presentation.list.rawValue, moment(1))
        #expect(words(list) == ["withdraw old", "record 3 nil"])
        _ = enter(&pipeline, alert(4))
        #expect(words(pipeline.deadlineReached(moment(AlertRunStateMachine.askTime))) == ["show 4"])
    }

    @Test("an image is waited for, at most 30 s; one that comes later is for the list")
    func images() throws {
        var pipeline = AlertPipeline(imageDirectory: "/images")
        let fetch = enter(&pipeline, alert(1), imageURL: "https://a/b.png")
        #expect(words(fetch) == ["fetch 1"])
        let image = Fetched(bytes: [1], contentType: nil, url: "https://a/b.png")
        let kept = pipeline.fetched(try ticket(fetch), .success(image), moment(1))
        #expect(words(kept) == ["keep 1"])
        var content = AlertContent(title: "Title")
        content.attachments = ["/images/x.png"]
        let shown = stored(&pipeline, try work(kept), .success(.image(.success(content))))
        #expect(words(shown) == ["sweep", "cancel 1", "show 1"])
        let showing = shown.compactMap(\.showing).first
        #expect(showing?.run.content.attachments == ["/images/x.png"])
        #expect(showing?.run.report(nil).image == ["path": "/images/x.png"])

        let slow = try ticket(enter(&pipeline, alert(2), imageURL: "https://a/c.png"))
        let keeping = try work(pipeline.fetched(slow, .success(image), moment(1)))
        let late = pipeline.deadlineReached(moment(AlertRunStateMachine.enrichmentTime))
        #expect(words(late) == ["cancel 2", "show 2"])
        #expect(late.compactMap(\.showing).first?.run.image == ["error": "timeout"])
        #expect(words(stored(&pipeline, keeping, .success(.image(.success(content))))) == ["sweep"])
        let bad = try ticket(enter(&pipeline, alert(3), imageURL: "https://a/d.png"))
        let refused = pipeline.fetched(bad, .failure(FetchError(.tooLarge, "")), moment(1))
        #expect(words(refused) == ["cancel 3", "show 3"])
        #expect(pipeline.counters.images == 2 && pipeline.counters.imagesRefused == 2)
        #expect(words(enter(&pipeline, alert(4), imageURL: "https://a/e.png")) == ["fetch 4"])
        #expect(words(pipeline.end()) == ["cancel 4"] && pipeline.count == 0)
    }

    @Test("32 are on their way; the others wait in the store, and come in their order")
    func backlog() throws {
        var pipeline = AlertPipeline(imageDirectory: nil)
        var first: AlertRun.Ticket?
        for row in 1...32 {
            let ticket = try ticket(enter(&pipeline, alert(Int64(row))))
            first = first ?? ticket
        }
        #expect(words(enter(&pipeline, alert(33))).isEmpty && pipeline.count == 32)
        let done = pipeline.shown(try #require(first), .success("h"), moment(1))
        #expect(words(done) == ["record 1 h", "take up"])
        // Another one ends while the store is read: what was read of it is outdated.
        _ = pipeline.withdraw([key("n2")], .removed, moment(0))
        let due = [2, 33, 34, 35].map { AlertPipeline.Due(alert: alert($0), push: nil) }
        #expect(
            words(stored(&pipeline, try work(Array(done.suffix(1))), .success(.due(due)))) == ["show 33", "show 34"])
        #expect(pipeline.count == 32)
        // 35 still waits, so a new one does, too.
        #expect(words(enter(&pipeline, alert(36))).isEmpty)
    }

    @Test("what waits is decided anew; if nothing is shown, the store is asked again, later after a failure")
    func decidedAnew() throws {
        var pipeline = AlertPipeline(imageDirectory: nil)
        pipeline.begin(at: 1_000_000)
        pipeline.earlierRows(through: 1)
        let takeUp = try work(pipeline.takeUp())
        let due = [alert(1, dueAt: 900_000), alert(2, dueAt: 900_000)].map { AlertPipeline.Due(alert: $0, push: nil) }
        let actions = stored(&pipeline, takeUp, .success(.due(due)))
        // Only the earlier process's alert is late.
        #expect(words(actions) == ["drop 1 late", "show 2"])
        let dropping = try work(actions)
        #expect(words(stored(&pipeline, dropping, .success(.unused(["h"])))) == ["withdraw h", "tell n1 late"])
        #expect(words(stored(&pipeline, dropping, .failure(storeError))).isEmpty)

        var failing = AlertPipeline(imageDirectory: nil)
        let read = try work(failing.takeUp())
        #expect(words(failing.storeFailed()) == ["pause 30000"])
        #expect(words(stored(&failing, read, .failure(storeError))).isEmpty)
        let again = try work(failing.takeUp())
        // More came while the store was read.
        #expect(words(failing.takeUp()).isEmpty)
        #expect(words(stored(&failing, again, .success(.due([])))) == ["pause 30000"])
        let third = try work(failing.takeUp())
        #expect(words(stored(&failing, third, .success(.due([])))).isEmpty)
    }

    @Test("held back: the banner in its place goes, and it is told with its reason")
    func held() throws {
        var pipeline = AlertPipeline(imageDirectory: nil)
        let judge = judge(lateAlerts: .summary)
        let actions = pipeline.enter(alert(1, isLate: true), imageURL: nil, AlertMoment(now: 1, judge: judge))
        #expect(words(actions) == ["hold 1"])
        let told = stored(&pipeline, try work(actions), .success(.unused(["h"])))
        #expect(words(told) == ["withdraw h", "tell n1 late", "held late"])
    }

    @Test("whatever an alert waits for: once it may not be shown any more, it is not", arguments: 0..<5)
    func decidedAgain(wait: Int) throws {
        let denied = judge(AlertSettings(), .denied)
        var pipeline = AlertPipeline(imageDirectory: "/images")
        pipeline.hostDecides = true
        if wait == 4 { pipeline.moved(toFront: true) }
        let entered = enter(&pipeline, alert(1), imageURL: wait == 0 ? "https://a/b.png" : nil)
        let ticket = try ticket(entered)
        switch wait {
        case 1: _ = pipeline.shown(ticket, .failure(PresenterError(message: "busy")), moment(0))
        case 2: pipeline.noPresenter(ticket)
        default: break
        }
        #expect(pipeline.isWanted(ticket) == (wait == 3))
        var later = pipeline
        let ended = (wait == 0 ? ["cancel 1"] : []) + ["drop 1 denied"]
        #expect(words(pipeline.redecide(moment(1, denied))) == ended)
        #expect(pipeline.count == 0 && !pipeline.isWanted(ticket))
        // What the presenter shows all the same is taken away.
        if wait == 3 { #expect(words(pipeline.shown(ticket, .success("h"), moment(2))) == ["find h"]) }
        // Nobody said that the rules have changed: they are looked at when it would be shown.
        let shown =
            switch wait {
            case 0: later.fetched(ticket, .failure(FetchError(.tooLarge, "")), moment(2, denied))
            case 1: later.deadlineReached(moment(1_000, denied))
            case 4: later.hostAnswered(ticket, 15, moment(2, denied))
            default: later.presenterReady(moment(2, denied))
            }
        if wait != 3 { #expect(words(shown).suffix(1) == ["drop 1 denied"] && later.count == 0) }
    }

    @Test("what can't be shown any more for another reason is held, quieter, or ended by its own time")
    func otherRules() throws {
        var quiet = AlertSettings()
        try quiet.apply(["quietHoursEnabled": true, "quietHoursStart": "00:00", "quietHoursEnd": "23:59"])
        var pipeline = AlertPipeline(imageDirectory: nil)
        let provisional = try ticket(enter(&pipeline, alert(1)))
        pipeline.noPresenter(provisional)
        #expect(pipeline.redecide(moment(1, judge(AlertSettings(), .provisional))).isEmpty)
        let shown = pipeline.presenterReady(moment(1, judge(AlertSettings(), .provisional)))
        #expect(shown.compactMap(\.showing).first?.run.isQuiet == true)
        #expect(words(pipeline.redecide(moment(2, judge(quiet)))) == ["hold 1"])

        var ending = AlertPipeline(imageDirectory: nil)
        let expired = ending.enter(alert(1), imageURL: nil, expiresAt: 1_000_000, moment(0))
        #expect(words(expired) == ["drop 1 expired"])
        let waiting = try ticket(ending.enter(alert(2), imageURL: nil, expiresAt: 1_000_001, moment(0)))
        ending.noPresenter(waiting)
        #expect(ending.nextEnd == 1_000_001)
        let other = try ticket(enter(&ending, alert(3)))
        ending.noPresenter(other)
        var later = judge()
        later.now = 1_000_000 + 24 * 3_600_000 - 1
        #expect(words(ending.redecide(moment(1, later))) == ["drop 2 expired"])
        later.now += 1
        #expect(words(ending.redecide(moment(1, later))) == ["drop 3 expired"])
    }

    @Test(
        "alerts whose images hang hold up no other: they have a way of their own, and their time counts from the start")
    func hangingImages() throws {
        var pipeline = AlertPipeline(imageDirectory: "/images", imageTime: 5_000)
        var fetches = 0
        for row in 1...200 {
            fetches += words(enter(&pipeline, alert(Int64(row)), imageURL: "https://a/b.png")).count
        }
        #expect(fetches == AlertQueue.fetchLimit && pipeline.count == 200)
        for row in 201...232 { #expect(words(enter(&pipeline, alert(Int64(row)))) == ["show \(row)"]) }
        #expect(words(enter(&pipeline, alert(233))).isEmpty)
        #expect(words(enter(&pipeline, alert(234, AlertContent(title: "Fire", level: .timeSensitive)))) == ["show 234"])
        #expect(pipeline.nextDeadline == 5_000)
        let late = words(pipeline.deadlineReached(moment(5_000)))
        #expect(late.filter { $0.hasPrefix("cancel") }.count == 200)
    }

    @Test("those that wait come in their order, urgent ones first")
    func order() throws {
        var pipeline = AlertPipeline(imageDirectory: nil)
        for row in 1...20 {
            let content = AlertContent(title: "Title", level: row % 5 == 0 ? .timeSensitive : .active)
            pipeline.noPresenter(try ticket(enter(&pipeline, alert(Int64(row), content))))
        }
        let order = [5, 10, 15, 20] + (1...20).filter { $0 % 5 != 0 }
        #expect(words(pipeline.presenterReady(moment(1))) == order.map { "show \($0)" })
    }

    @Test("one that makes room for others leaves without a word: the store has it")
    func displaced() throws {
        var pipeline = AlertPipeline(imageDirectory: nil)
        let ticket = try ticket(enter(&pipeline, alert(1)))
        #expect(words(pipeline.displaced(1, moment(1))).isEmpty && pipeline.count == 0)
        #expect(words(pipeline.shown(ticket, .success("h"), moment(1))) == ["find h"])
    }

    // MARK: Shorthand

    private func enter(
        _ pipeline: inout AlertPipeline, _ alert: AlertRow, imageURL: String? = nil
    ) -> [AlertPipeline.Action] {
        pipeline.enter(alert, imageURL: imageURL, moment(0))
    }

    private func stored(
        _ pipeline: inout AlertPipeline, _ work: PipelineWork, _ result: Result<PipelineWork.Outcome, StoreError>
    ) -> [AlertPipeline.Action] {
        pipeline.stored(work, result, moment(2))
    }

    private func moment(_ now: UInt64, _ judge: AlertJudge = judge()) -> AlertMoment {
        AlertMoment(now: now, judge: judge)
    }

    private func ticket(_ actions: [AlertPipeline.Action]) throws -> AlertRun.Ticket {
        try #require(
            actions.compactMap { action in
                switch action {
                case .show(let showing, _), .ask(let showing): showing.run.ticket
                case .fetch(let ticket, _): ticket
                default: nil
                }
            }.first)
    }

    private func work(_ actions: [AlertPipeline.Action]) throws -> PipelineWork {
        try #require(actions.compactMap { if case .store(let work) = $0 { work } else { nil } }.first)
    }

    private func words(_ actions: [AlertPipeline.Action]) -> [String] { actions.map(\.word) }
}

extension AlertPipeline.Action {
    fileprivate var showing: AlertPipeline.Showing? { if case .show(let showing, _) = self { showing } else { nil } }

    fileprivate var word: String {
        switch self {
        case .store(let work): work.word
        case .pauseBacklog(let pause): "pause \(pause)"
        case .fetch(let ticket, _): "fetch \(ticket.row)"
        case .cancelFetch(let ticket, _): "cancel \(ticket.row)"
        case .sweepImages: "sweep"
        case .ask(let showing): "ask \(showing.run.ticket.row)"
        case .show(let showing, let place): "show \(showing.run.ticket.row)" + (place.map { " at \($0)" } ?? "")
        case .withdraw(_, let handle): "withdraw \(handle)"
        case .held(let hold): "held \(hold.rawValue)"
        case .tell(let report): "tell \(report.key.id.text) \(report.reason ?? "shown")"
        case .setBadge(let count): "badge \(count)"
        case .log: "log"
        }
    }
}

extension PipelineWork {
    fileprivate var word: String {
        switch self {
        case .takeUp: "take up"
        case .hold(let alert, _, _): "hold \(alert.row)"
        case .drop(let row, _, let report): "drop \(row)" + (report?.reason.map { " \($0)" } ?? "")
        case .record(let row, _, let handle, _): "record \(row) \(handle ?? "nil")"
        case .findOwner(let handle, _): "find \(handle)"
        case .keepImage(let ticket, _, _, _): "keep \(ticket.row)"
        }
    }
}
