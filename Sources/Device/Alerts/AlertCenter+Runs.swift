import Alerts
import HTTPClient
import Hosting
import Identity
import JSON
import Signalling
import Store
import Transport
import Wire

// Alerts on their way to the screen.
extension AlertCenter {
    func run(_ alert: AlertRow, imageURL: String?, isQuiet: Bool, isLate: Bool? = nil) {
        let run = AlertRun(
            alert, imageURL: imageURL, isQuiet: isQuiet, isLate: isLate ?? alert.isLate
        ) { [weak self] run in
            guard let self else { return }
            let now = EventLoop.now
            let isOver = run.machine.deadline.map { $0 <= now } ?? false
            if run.isEnriching, isOver { settle(run, imageError: FetchError.Code.timeout.name) }
            carryOut(run.machine.deadlineReached(now: now), of: run)
        }
        runs[alert.row] = run
        carryOut(
            run.machine.start(
                hasEnrichment: imageURL != nil, isInFront: isInFront && answered.contains(.willPresent),
                replacing: alert.handle, now: EventLoop.now), of: run)
    }

    func withdrawRuns(
        of keys: [AlertKey], _ reason: AlertRunStateMachine.Reason, except row: Int64? = nil
    ) {
        for run in runs.values where keys.contains(run.key) && run.row != row {
            carryOut(run.machine.withdraw(reason), of: run)
        }
    }

    private func carryOut(_ action: AlertRunStateMachine.Action?, of run: AlertRun) {
        switch action {
        case nil: break
        case .enrich: fetchImage(of: run)
        case .ask: ask(about: run)
        case .present(let presentation): present(run, presentation)
        case .finished(let outcome): return finish(run, outcome)
        case .close(let handle): closeUnused(handle, of: run.key)
        }
        if !run.machine.isFinished { run.armTimer() }
    }

    /// The presenter is there again.
    func retryRuns() {
        for run in runs.values { carryOut(run.machine.presenterReady(now: EventLoop.now), of: run) }
    }

    // MARK: Enrichment

    func makeFetcher() -> Fetcher {
        var limits = FetchOptions()
        limits.caFile = options.common.caFile
        limits.timeout = options.alerts.images.timeout
        limits.allowed = options.alerts.images.allowed
        return Fetcher(limits)
    }

    private func fetchImage(of run: AlertRun) {
        guard let url = run.imageURL, let directory = options.common.stateDirectory else {
            return carryOut(run.machine.enriched(now: EventLoop.now), of: run)
        }
        run.isEnriching = true
        run.fetch = fetcher.fetch(url) { [weak self] result in
            guard let self else { return }
            run.fetch = nil
            switch result {
            case .failure(let error): enriched(run, imageError: error.code.name)
            case .success(let fetched): keep(fetched, of: run, in: "\(directory)/images")
            }
        }
    }

    /// Looks at the bytes, and writes them to the disk, where the store's thread may wait for it.
    private func keep(_ fetched: Fetched, of run: AlertRun, in directory: String) {
        let (row, content) = (run.row, run.content)
        store { (connection) throws(StoreError) -> Result<AlertContent, EnrichmentError> in
            let cache = ImageCache(directory: directory)
            let path: String
            do throws(EnrichmentError) {
                let format = try ImageFormat.accept(fetched.bytes, contentType: fetched.contentType)
                let name = ContentHash.hex([Array(fetched.url.utf8), fetched.bytes])
                path = try cache.keep(fetched.bytes, format, named: name)
            } catch {
                return .failure(error)
            }
            var content = content
            content.attachments = [path]
            try AlertTable(connection).update(row, content)
            return .success(content)
        } then: { center, result in
            center.sweepImages()
            switch result {
            case .success(.success(let content)):
                center.counters.images &+= 1
                // What comes too late is in the list, as far as it is there.
                guard run.isEnriching else { return }
                run.content = content
                center.enriched(run, path: content.attachments.first)
            case .success(.failure(let error)): center.enriched(run, imageError: error.code.name)
            case .failure: center.enriched(run, imageError: "not_kept")
            }
        }
    }

    private func enriched(_ run: AlertRun, path: String? = nil, imageError: String? = nil) {
        guard run.isEnriching else { return }
        settle(run, path: path, imageError: imageError)
        carryOut(run.machine.enriched(now: EventLoop.now), of: run)
    }

    /// What has become of the image, once.
    private func settle(_ run: AlertRun, path: String? = nil, imageError: String? = nil) {
        run.isEnriching = false
        run.fetch?.cancel()
        run.fetch = nil
        if imageError != nil { counters.imagesRefused &+= 1 }
        run.image = ["path": path.map(JSONValue.string), "error": imageError.map(JSONValue.string)]
    }

    /// What is too old or too much goes, now and for as long as there is something.
    func sweepImages() {
        guard let directory = options.common.stateDirectory.map({ "\($0)/images" }), !isEnded else { return }
        store { (connection) throws(StoreError) in
            let cache = ImageCache(directory: directory)
            cache.sweep(now: .now)
            return cache.isEmpty
        } then: { center, result in
            if case .success(false) = result { center.sweepTimer.start(after: Self.sweepPause) }
        }
    }

    private static let sweepPause: UInt64 = 3_600_000

    // MARK: Before showing

    private func ask(about run: AlertRun) {
        let json = shownAlert(run, .all).json
        let row = run.row
        channel.ask(
            HostQuestion(.willPresent, json: JSONValue.object(json).serialized()) { [weak self] answer in
                EventLoop.post {
                    guard let self, !self.isEnded, let run = self.runs[row] else { return }
                    self.carryOut(
                        run.machine.answered(Presentation(answer: answer), now: EventLoop.now), of: run)
                }
            })
    }

    // MARK: Showing

    private func shownAlert(_ run: AlertRun, _ presentation: Presentation) -> PresentedAlert {
        var content = settings.shown(run.content, quietly: run.isQuiet)
        if !presentation.contains(.sound) { content.sound = nil }
        return PresentedAlert(
            key: run.key, content: content, actions: category(of: run.content)?.actions ?? [],
            presentation: presentation, isQuiet: run.isQuiet, isReminder: run.isReminder)
    }

    func category(of content: AlertContent) -> Categories.Category? { content.category.flatMap { categories[$0] } }

    private func present(_ run: AlertRun, _ presentation: Presentation) {
        guard presentation.contains(.banner) else {
            // For the list alone: there is nothing to put on the screen, and what was there says what is no longer so.
            if let place = run.place { presenter?.withdraw(run.key, handle: place) }
            return presented(run, .success(nil))
        }
        guard let presenter, presenter.isThere else {
            run.machine.noPresenter()
            return
        }
        presenter.show(shownAlert(run, presentation), replacing: run.place) { [weak self] result in
            self?.presented(run, result)
        }
    }

    private func presented(_ run: AlertRun, _ result: Result<String?, PresenterError>) {
        guard !isEnded else { return }
        switch result {
        case .success(let handle): carryOut(run.machine.presented(handle), of: run)
        case .failure(let error):
            counters.failed &+= 1
            channel.log(.warning, "an alert is not on the screen yet: \(error.message)")
            if run.isAnswered { return carryOut(run.machine.withdraw(.removed), of: run) }
            carryOut(run.machine.presentFailed(now: EventLoop.now), of: run)
        }
    }

    private func finish(_ run: AlertRun, _ outcome: AlertRunStateMachine.Outcome) {
        run.end()
        runs[run.row] = nil
        if isTakingUp { endedMeanwhile.insert(run.row) }
        defer { if hasBacklog { takeDue() } }
        if outcome.presentation.contains(.badge), outcome.reason == nil || outcome.reason == .willPresent {
            setBadge(run.content.badge)
        }
        guard outcome.presented else {
            tellPresented(run.key, run.isReminder, run.isLate, reason: outcome.reason?.rawValue, image: run.image)
            if outcome.reason != .replaced { dropShown(run) }
            return
        }
        let (row, handle, now) = (run.row, outcome.handle, EpochMilliseconds.now)
        // Recorded before it is told: what was told to be shown is not shown again after a crash.
        store { (connection) throws(StoreError) in
            try AlertTable(connection).delivered(row, at: now, handle: handle)
        } then: { center, result in
            center.note(result, "an alert that was shown could not be recorded")
            if case .success(let delivered) = result {
                for handle in delivered.close { center.closeUnused(handle, of: run.key) }
            }
            center.tellPresented(run.key, run.isReminder, run.isLate, reason: nil, image: run.image)
        }
    }

    /// Takes a banner away, unless it is that of an alert that has taken its place meanwhile: one handle may be both's.
    private func closeUnused(_ handle: String, of key: AlertKey) {
        // One on its way has the place: it may be recorded between the look into the store and what is found there.
        guard !runs.values.contains(where: { $0.key == key }) else { return }
        store { (connection) throws(StoreError) in
            try AlertTable(connection).find(handle: handle) == nil
        } then: { center, result in
            guard case .success(true) = result, !center.runs.values.contains(where: { $0.key == key }) else { return }
            center.presenter?.withdraw(key, handle: handle)
        }
    }

    /// It is not shown, and neither is what it was to take the place of.
    private func dropShown(_ run: AlertRun) {
        store { (connection) throws(StoreError) in
            try AlertTable(connection).drop(run.row)
        } then: { center, result in
            center.note(result, "an alert could not be dropped")
            if case .success(let handle?) = result { center.presenter?.withdraw(run.key, handle: handle) }
        }
    }

    // MARK: The badge

    func setBadge(_ count: Int64?) {
        guard let count, count != badge else { return }
        badge = count
        presenter?.setBadge(count)
        if isOn { channel.post(HostEvent(.badgeChanged, data: ["badge": .integer(count)])) }
    }
}
