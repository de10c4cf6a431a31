import Alerts
import HTTPClient
import JSON
import Store
import TestSupport
import Testing
import Wire

@testable import DeviceAlerts

/// Inside of a type that has a member of that name.
private func sampleJudge(
    _ settings: AlertSettings = AlertSettings(), _ status: Authorization.Status = .authorized
) -> AlertJudge { judge(settings, status) }

/// The pipeline against what is promised of it, with a presenter, a fetcher, rules and a store that do what they like, when
/// they like, and a clock of its own.
@Suite struct AlertPipelineModelTests {
    private struct World {
        var pipeline = AlertPipeline(imageDirectory: "/images", imageTime: 5_000)
        var random: SeededGenerator
        var now: UInt64 = 0
        var judge = sampleJudge()
        var lastRow: Int64 = 0
        /// Stored as to be shown.
        var due: [Int64: AlertRow] = [:]
        var hasImage: Set<Int64> = []
        var fetches: Set<AlertRun.Ticket> = []
        var calls: [AlertRun.Ticket] = []
        /// What waits for the store's thread.
        var works: [PipelineWork] = []
        var shown: [Int64] = []
        var ends: [String: Int] = [:]
        var pauses = false

        var moment: AlertMoment { AlertMoment(now: now, judge: judge) }

        mutating func carryOut(_ actions: [AlertPipeline.Action]) {
            for action in actions {
                switch action {
                case .store(let work): works.append(work)
                case .pauseBacklog: pauses = true
                case .fetch(let ticket, _):
                    #expect(hasImage.contains(ticket.row) && fetches.insert(ticket).inserted)
                    #expect(fetches.count <= AlertQueue.fetchLimit)
                case .cancelFetch(let ticket, _): fetches.remove(ticket)
                case .show(let showing, _):
                    #expect(judge.decide(showing.run.subject) == .show(quietly: showing.run.isQuiet))
                    calls.append(showing.run.ticket)
                case .tell(let report): ends["\(report.key.id.text) \(report.reason ?? "shown")", default: 0] += 1
                case .sweepImages, .ask, .withdraw, .held, .setBadge, .log: break
                }
            }
        }

        /// The oldest work is done.
        mutating func runStore() {
            guard !works.isEmpty else { return }
            let work = works.removeFirst()
            var outcome = PipelineWork.Outcome.unused([])
            switch work {
            case .takeUp(let limit):
                let rows = due.values.sorted { AlertRun.Ticket($0) < AlertRun.Ticket($1) }.prefix(limit)
                outcome = .due(rows.map { AlertPipeline.Due(alert: $0, push: nil) })
            case .hold(let alert, _, _): due[alert.row] = nil
            case .drop(let row, _, _), .record(let row, _, _, _): due[row] = nil
            case .keepImage(_, let content, _, _): outcome = .image(.success(content))
            case .findOwner: break
            }
            carryOut(pipeline.stored(work, .success(outcome), moment))
        }

        mutating func step() {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6:
                lastRow += 1
                let isUrgent = Int.random(in: 0..<5, using: &random) == 0
                let row = alert(lastRow, AlertContent(title: "T", level: isUrgent ? .timeSensitive : .active))
                due[lastRow] = row
                let url = Int.random(in: 0..<3, using: &random) == 0 ? "https://a/b.png" : nil
                if url != nil { hasImage.insert(lastRow) }
                carryOut(pipeline.enter(row, imageURL: url, moment))
            case 6..<9:
                guard !calls.isEmpty else { return }
                let ticket = calls.removeFirst()
                let isWanted = pipeline.isWanted(ticket)
                if isWanted { shown.append(ticket.row) }
                let fails = Int.random(in: 0..<4, using: &random) == 0
                if fails, isWanted { shown.removeLast() }
                let result: Result<String?, PresenterError> =
                    fails ? .failure(PresenterError(message: "busy")) : .success("h\(ticket.row)")
                carryOut(pipeline.shown(ticket, result, moment))
            case 9: if !calls.isEmpty { pipeline.noPresenter(calls.removeFirst()) }
            case 10: carryOut(pipeline.presenterReady(moment))
            case 11, 12:
                guard let ticket = fetches.sorted().first else { return }
                fetches.remove(ticket)
                let isGood = Bool.random(using: &random)
                let image = Fetched(bytes: [1], contentType: nil, url: "https://a/b.png")
                carryOut(
                    pipeline.fetched(ticket, isGood ? .success(image) : .failure(FetchError(.tooLarge, "")), moment))
            case 13: changeRules()
            case 14, 15:
                now += UInt64.random(in: 0...3_000, using: &random)
                carryOut(pipeline.deadlineReached(moment))
            default: runStore()
            }
        }

        mutating func changeRules() {
            var settings = AlertSettings()
            settings.enabled = Int.random(in: 0..<3, using: &random) > 0
            let status: Authorization.Status =
                [.authorized, .provisional, .denied].randomElement(using: &random) ?? .denied
            judge = sampleJudge(settings, status)
            // At once for all that is not on the screen.
            carryOut(pipeline.redecide(moment))
            if case .hide = judge.decide(AlertSubject(level: .timeSensitive)) {
                #expect(pipeline.count == 0 && calls.allSatisfy { !pipeline.isWanted($0) })
            }
        }

        /// From now on all goes well.
        mutating func finish() {
            for _ in 0..<20_000 where pipeline.count > 0 || !works.isEmpty || !due.isEmpty {
                while !works.isEmpty { runStore() }
                now += 1_000
                carryOut(pipeline.deadlineReached(moment))
                if pauses {
                    pauses = false
                    carryOut(pipeline.takeUp())
                }
                if calls.isEmpty { carryOut(pipeline.presenterReady(moment)) }
                while !calls.isEmpty {
                    let ticket = calls.removeFirst()
                    carryOut(pipeline.shown(ticket, .success("h"), moment))
                }
            }
        }
    }

    @Test(
        "random sequences: each ends once, none is shown that may not be, none stays behind",
        arguments: 0..<40 as Range<UInt64>)
    func sequences(seed: UInt64) {
        var world = World(random: SeededGenerator(seed: seed))
        for _ in 0..<600 { world.step() }
        world.finish()
        #expect(world.due.isEmpty && world.pipeline.count == 0 && world.works.isEmpty)
        #expect(world.ends.values.allSatisfy { $0 == 1 })
        #expect(Set(world.ends.keys.compactMap { $0.split(separator: " ").first }).count == Int(world.lastRow))
        #expect(world.ends.count == Int(world.lastRow), "one end each")
    }

    @Test("1,000 that wait for a presenter come in their order, whatever of them is in memory")
    func thousand() throws {
        var world = World(random: SeededGenerator(seed: 1))
        var first: [Int64] = []
        for number in 1...1_000 as ClosedRange<Int64> {
            let (isUrgent, isReminder) = (number % 100 == 0, number % 100 == 50)
            if isUrgent || isReminder { first.append(number) }
            let content = AlertContent(title: "T", level: isUrgent ? .timeSensitive : .active)
            let row = alert(number, content, isReminder: isReminder)
            world.due[number] = row
            world.carryOut(world.pipeline.enter(row, imageURL: nil, world.moment))
            while !world.calls.isEmpty { world.pipeline.noPresenter(world.calls.removeFirst()) }
        }
        world.carryOut(world.pipeline.presenterReady(world.moment))
        var order: [Int64] = []
        while !world.calls.isEmpty {
            let ticket = world.calls.removeFirst()
            order.append(ticket.row)
            world.carryOut(world.pipeline.shown(ticket, .success("h"), world.moment))
            while !world.works.isEmpty { world.runStore() }
        }
        let ordinary = (1...1_000 as ClosedRange<Int64>).filter { !first.contains($0) }
        #expect(order.count == 1_000 && order.filter { !first.contains($0) } == ordinary)
        #expect(order.filter(first.contains) == first && order.prefix(8) == first.prefix(8))
    }
}
