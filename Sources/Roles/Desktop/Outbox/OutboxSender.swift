import Delivery
import Hosting
import JSON
import Notifications
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// Delivers pushes from the outboxes: performs what each device's machine decides, and reports who received what
/// (WireSealing, "Delivery of pushes").
///
/// One timer serves all devices and all callers that wait.
@EventLoop
final class OutboxSender {
    typealias Send = @EventLoop (JSONValue, PairedDevice) -> Sent

    private let database: Database
    /// Of this start (WireSealing, "Replay protection").
    private let epoch: Int64
    private let devices: DeviceBook
    private let send: Send
    private let isUp: @EventLoop (RouteID) -> Bool
    private let host: HostReports
    private let delivered: @EventLoop (PushTicket, Set<PeerID>) -> Void
    /// Acknowledgements of pushes that an earlier start has sent: ignored.
    private(set) var staleAcknowledgements: Int64 = 0
    private var runs = PushRuns()
    /// What the store does not know yet.
    private var acknowledgements = AcknowledgementBatch<SealMark>()
    /// When the timer fires; `nil` = it is not set.
    private var timerAt: UInt64?
    private lazy var timer = LoopTimer { [weak self] in self?.deadlineReached() }
    private lazy var saveTimer = LoopTimer { [weak self] in self?.database.flush() }

    /// How long acknowledgements wait for the transaction of another push, in milliseconds.
    private static let saveDelay: UInt64 = 50

    /// - Parameters:
    ///   - isUp: whether that route is up.
    ///   - delivered: the recipients of a push are known.
    init(
        database: Database, devices: DeviceBook, epoch: Int64, _ host: HostReports, send: @escaping Send,
        isUp: @escaping @EventLoop (RouteID) -> Bool = { _ in false },
        delivered: @escaping @EventLoop (PushTicket, Set<PeerID>) -> Void
    ) {
        (self.database, self.devices, self.epoch, self.host) = (database, devices, epoch, host)
        (self.send, self.isUp, self.delivered) = (send, isUp, delivered)
    }

    // MARK: Pushes

    /// A push that the store has put in the outboxes under these numbers. With a ticket, its recipients are reported.
    func push(
        _ event: NotificationEvent, numbered seqs: [PeerID: Int64], _ ticket: PushTicket?, isOnline: Bool
    ) {
        let now = EventLoop.now
        var open: Set<PeerID> = []
        var deadline: UInt64?
        for (device, seq) in seqs {
            var event = event
            event.pushSeq = seq
            let entry = Outbox.Entry(seq: seq, event: event)
            let actions = devices.update(device) { session in
                session.recent.append(entry)
                return session.outbox.enqueued(entry, now: now)
            }
            guard let actions else { continue }
            perform(actions, for: device)
            var waiting: Int64 = 0
            devices.update(device) { session in
                if isOnline, let ticket, !session.outbox.isAbsent {
                    session.deliveries.append(ticket, numbered: seq)
                    open.insert(device)
                }
                waiting = seq - session.outbox.position.acknowledged
                deadline = earlier(deadline, session.outbox.deadline)
            }
            if waiting == Outbox.limit + 1 { host.outboxIsFull(Outbox.limit) }
        }
        if let ticket {
            finish(runs.begin(ticket, open: open, now: now))
            deadline = earlier(deadline, runs.nextDeadline())
        }
        arm(by: deadline)
    }

    /// A device reports its position in a sealed frame: in a hello after it has registered, otherwise in an
    /// acknowledgement.
    ///
    /// - Parameter epoch: of the seal in which the push of this number came, as the device says.
    func acknowledged(
        through seq: Int64, in epoch: Int64?, isHello: Bool, by device: PeerID, _ mark: SealMark
    ) {
        if !mark.isOfSession { acknowledgements.add(mark) }
        var isFirstNamed = false
        let verdict = devices.update(device) { session in
            let wasNamed = session.acknowledgedEpoch.isNamed
            let verdict = session.acknowledgedEpoch.judge(
                epoch, isHello: isHello, isOfSession: mark.isOfSession, current: self.epoch)
            isFirstNamed = !wasNamed && session.acknowledgedEpoch.isNamed
            if epoch == self.epoch { session.prove(mark) }
            return verdict
        }
        if isFirstNamed { noteEpochs(of: device) }
        switch verdict {
        case .current?: change(device) { $0.acknowledged(through: seq, isHello: isHello, now: EventLoop.now) }
        case .earlier?: change(device) { $0.recalled(through: seq, now: EventLoop.now) }
        case .stale?: staleAcknowledgements &+= 1
        case nil: break
        }
        save(acknowledgements.due())
    }

    private func noteEpochs(of device: PeerID) {
        database.perform { (connection) throws(StoreError) in
            // It may have been unpaired in the meantime.
            guard try PairedDevices(connection).find(device) != nil else { return }
            try Outbox(connection).noteEpochs(of: device)
        } then: { [weak self] result in
            guard case .failure(let error) = result, error.code != .closed else { return }
            self?.host.log(.warning, "could not update the outbox: \(error.message)")
        }
    }

    /// Pushes were taken back: only the store knows which.
    func withdrawn() { for device in devices.ids { devices.update(device) { $0.recent.forget() } } }

    // MARK: Devices

    /// A frame came from the device over that route, or a relay reports it online.
    func heard(_ device: PeerID, over route: RouteID? = nil, at moment: UInt64 = EventLoop.now) {
        change(device) { $0.heard(over: route, now: moment) }
    }

    /// The device is reached over that route now, or the route has shown whether it reports absent peers.
    func routed(_ device: PeerID, over route: RouteID, _ reporting: AbsenceReporting) {
        change(device) { $0.routed(over: route, reporting, now: EventLoop.now) }
    }

    /// Every route over which the device is reached has called it absent, for one frame that was sent to it.
    func wasCalledAbsent(_ device: PeerID) { isGone(device) { $0.wasCalledAbsent() } }

    /// A frame came back over that route; the device may be reached over another one.
    func wasReturned(_ device: PeerID, over route: RouteID) {
        guard devices.session(device)?.carrier == route else { return }
        change(device) { $0.wasReturned(now: EventLoop.now) }
    }

    /// It is absent on every route.
    func wentOffline(_ device: PeerID) { isGone(device) { $0.wentOffline() } }

    private func isGone(_ device: PeerID, _ event: (inout DeviceOutbox) -> Void) {
        let missed =
            devices.update(device) { session -> [PushTicket] in
                event(&session.outbox)
                session.recent.forget()
                return session.outbox.isWaiting ? [] : session.deliveries.takeAll()
            } ?? []
        for ticket in missed { finish(runs.missed(ticket, by: device)) }
        arm(by: devices.update(device) { $0.outbox.deadline } ?? nil)
    }

    /// The device has a new connection or another route: frames in flight may be lost.
    func connected(_ device: PeerID, over route: RouteID? = nil) {
        let isCarrierUp = route != nil && devices.session(device)?.carrier.map(isUp) == true
        if let route { devices.update(device) { $0.carrier = route } }
        change(device) { $0.connected(isCarrierUp: isCarrierUp, now: EventLoop.now) }
    }

    /// No connection is up.
    func disconnected(_ device: PeerID) {
        devices.update(device) { $0.carrier = nil }
        change(device) {
            $0.disconnected()
            return []
        }
    }

    /// A device was paired again. If it changed between encrypted and unencrypted, its outbox gets another state
    /// machine. It may have another program now, so it counts as naming no epochs until it does.
    func paired(_ device: PairedDevice, isOnline: Bool) {
        let isOther = devices.update(device.did) { session in
            session.acknowledgedEpoch = AcknowledgedEpoch()
            guard session.outbox.isSealed != device.isSecure else { return false }
            session.outbox = DeviceOutbox(session.outbox.position, isSealed: device.isSecure)
            return true
        }
        if isOther == true, isOnline { connected(device.did) }
    }

    /// The device was unpaired: its callers wait no longer.
    func forget(_ device: PeerID, _ session: DeviceSession) {
        var deliveries = session.deliveries
        for ticket in deliveries.takeAll() { finish(runs.missed(ticket, by: device)) }
    }

    /// A device has another key, and the store knows: pushes that were put in meanwhile are sent, too.
    func moved(_ device: PeerID, _ position: Outbox.Position, isOnline: Bool) {
        if isOnline { connected(device) }
        change(device) { $0.renumbered(position, now: EventLoop.now) }
    }

    /// The desktop is being stopped.
    func end() {
        for device in devices.ids {
            change(device) {
                let actions = $0.ended()
                $0.disconnected()
                return actions
            }
        }
        save(acknowledgements.flush())
        // Not delivered, as far as can be known.
        for run in runs.end() { finish(run.finished) }
        for device in devices.ids { devices.update(device) { _ = $0.deliveries.takeAll() } }
        timer.stop()
        timerAt = nil
    }

    // MARK: The timer

    private func deadlineReached() {
        let now = EventLoop.now
        timerAt = nil
        var deadline: UInt64?
        for device in devices.ids {
            guard let session = devices.session(device) else { continue }
            if let due = session.outbox.deadline, due <= now {
                perform(devices.update(device) { $0.outbox.deadlineReached(now: now) } ?? [], for: device)
            }
            deadline = earlier(deadline, devices.session(device)?.outbox.deadline)
        }
        for run in runs.overdue(now: now) { conclude(run) }
        arm(by: earlier(deadline, runs.nextDeadline()))
    }

    /// A deployed phone has received what was written to it and not returned.
    private func conclude(_ run: PushRuns.Overdue) {
        var finished = run.finished
        for device in run.open {
            devices.update(device) { session in
                guard let seq = session.deliveries.remove(finished.ticket), seq <= session.outbox.written ?? 0 else {
                    return
                }
                finished.delivered.insert(device)
            }
        }
        finish(finished)
    }

    /// A timer that fires too early finds nothing to do, and is restarted.
    private func arm(by deadline: UInt64?) {
        guard let deadline, deadline < timerAt ?? .max else { return }
        timerAt = deadline
        timer.start(at: deadline)
    }

    private func earlier(_ one: UInt64?, _ other: UInt64?) -> UInt64? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    // MARK: Acting

    private func change(_ device: PeerID, _ event: (inout DeviceOutbox) -> [DeviceOutbox.Action]) {
        guard let actions = devices.update(device, { event(&$0.outbox) }) else { return }
        perform(actions, for: device)
        arm(by: devices.update(device) { $0.outbox.deadline } ?? nil)
    }

    private func perform(_ actions: [DeviceOutbox.Action], for device: PeerID) {
        for action in actions {
            switch action {
            case .read(let from, let through, let round): read(device, from, through, round)
            case .send(let frames): guard write(frames, to: device) else { return }
            case .settle(let through): settle(device, through: through)
            case .renumber(let seq): renumber(device, after: seq, isOfEarlierStart: false)
            case .recount(let seq): renumber(device, after: seq, isOfEarlierStart: true)
            }
        }
    }

    /// `false` = one was not taken, and nothing after it is to be sent.
    private func write(_ frames: [OutboxStateMachine.Frame], to id: PeerID) -> Bool {
        guard let device = devices[id] else { return false }
        let form = NotificationEvent.Form(platform: device.platform, isBellwire: device.isSecure)
        for frame in frames {
            let (seq, payload): (Int64, JSONValue) =
                switch frame {
                case .push(let entry): (entry.seq, entry.event.payload(as: form))
                case .skip(let through): (through, PushSkip(through: through).json)
                }
            FailPoint.beforeSend.reach()
            let result = send(payload, device)
            FailPoint.afterSend.reach()
            if result.isWritten { continue }
            if result.isTooLarge { giveUp(seq, of: id) }
            devices.update(id) { $0.outbox.unsent(from: seq, now: EventLoop.now) }
            return false
        }
        return true
    }

    private func read(_ device: PeerID, _ from: Int64, _ through: Int64, _ round: UInt64) {
        let now = ExpiryMoment.current
        if let page = devices.update(device, { $0.recent.page(from: from, now: now) }) ?? nil {
            return change(device) { $0.read(page, round: round, now: EventLoop.now) }
        }
        database.perform { (connection) throws(StoreError) in
            try Outbox(connection).page(of: device, from: from, through: through, now: now)
        } then: { [weak self] result in
            if case .success(let page) = result, !page.expired.isEmpty {
                self?.host.expired(page.expired, of: device)
            }
            self?.change(device) { outbox in
                switch result {
                case .success(let page): return outbox.read(page, round: round, now: EventLoop.now)
                case .failure:
                    outbox.readFailed(round: round, now: EventLoop.now)
                    return []
                }
            }
        }
    }

    // MARK: What devices have

    private func settle(_ device: PeerID, through seq: Int64) {
        let work = devices.update(device) {
            acknowledgements.settle(through: seq, by: device, in: &$0.unsavedAcknowledgement)
        }
        save(work ?? nil)
        deliver(device, through: seq)
    }

    private func deliver(_ device: PeerID, through seq: Int64) {
        let settled =
            devices.update(device) { session -> [PushTicket] in
                session.recent.settle(through: seq)
                return session.deliveries.settle(through: seq)
            } ?? []
        for ticket in settled { finish(runs.delivered(ticket, to: device)) }
    }

    /// If this is lost, those pushes are sent once more after the next start.
    private func save(_ work: AcknowledgementBatch<SealMark>.Work?) {
        guard let work else { return }
        let settled = work.devices.compactMap { device -> (device: PeerID, seq: Int64)? in
            let seq = devices.update(device) { $0.unsavedAcknowledgement.take() } ?? nil
            return seq.map { (device, $0) }
        }
        saveTimer.start(after: Self.saveDelay)
        // Numbers only prevent that pushes are sent again; a mark prevents that a frame is played back.
        database.submitWithNext(isDurable: !work.marks.isEmpty) { (connection) throws(StoreError) in
            var marks = SealMarks(connection)
            for mark in work.marks { _ = try marks.record(mark) }
            try marks.save()
            for (device, seq) in settled { try Outbox(connection).settle(through: seq, by: device) }
        } then: { [weak self] result in
            EventLoop.post { self?.saved(result) }
        }
    }

    private func saved(_ result: Result<Void, StoreError>) {
        if case .failure(let error) = result, error.code != .closed {
            host.log(.warning, "could not update the outbox: \(error.message)")
        }
        save(acknowledgements.finished())
    }

    private func renumber(_ device: PeerID, after seq: Int64, isOfEarlierStart: Bool) {
        // The store counts on from where the machine is.
        let unsaved = devices.update(device) { $0.unsavedAcknowledgement.take() } ?? nil
        database.perform { (connection) throws(StoreError) -> Outbox.Position? in
            guard try PairedDevices(connection).find(device) != nil else { return nil }
            let outbox = Outbox(connection)
            if let unsaved { try outbox.settle(through: unsaved, by: device) }
            return isOfEarlierStart
                ? try outbox.recount(after: seq, by: device) : try outbox.acknowledge(through: seq, by: device)
        } then: { [weak self] result in
            switch result {
            case .success(let position?): self?.renumbered(device, position)
            case .success(nil): break
            case .failure(let error):
                self?.devices.update(device) { $0.outbox.renumberFailed(now: EventLoop.now) }
                self?.host.storeFailed("dropped an acknowledgement", error)
            }
        }
    }

    private func renumbered(_ device: PeerID, _ position: Outbox.Position) {
        devices.update(device) { session in
            session.recent.forget()
            if position.shift != 0 { session.deliveries.shift(by: position.shift) }
        }
        change(device) { $0.renumbered(position, now: EventLoop.now) }
        deliver(device, through: position.acknowledged)
    }

    private func giveUp(_ seq: Int64, of device: PeerID) {
        host.log(.warning, "dropped a push that is larger than the maximum frame size")
        devices.update(device) { $0.recent.forget() }
        database.perform { (connection) throws(StoreError) in
            try Outbox(connection).remove(seq, of: device)
        } then: { _ in
        }
    }

    private func finish(_ run: PushRuns.Finished?) {
        if let run { delivered(run.ticket, run.delivered) }
    }
}
