import Delivery
import History
import Hosting
import JSON
import Notifications
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

// The outboxes: carries out what their machines decide, and tells them what comes (protocol.md 4.4).
extension DesktopCore {
    /// Changes a device's machine, which is there from the first use, and carries out what follows.
    private func change(_ device: PairedDevice, _ event: (inout DeviceOutbox) -> [DeviceOutbox.Action]) {
        var outbox: DeviceOutbox
        var actions: [DeviceOutbox.Action] = []
        if let old = outboxes[device.did], old.isSealed == device.isSecure {
            outbox = old
        } else {
            let position = outboxes[device.did]?.position ?? Outbox.Position(last: 0, acknowledged: 0)
            outbox = DeviceOutbox(position, isSealed: device.isSecure)
            if isOnline { actions = outbox.connected(now: EventLoop.now) }
        }
        actions += event(&outbox)
        outboxes[device.did] = outbox
        perform(actions, to: device)
        armOutboxTimer(by: outboxes[device.did]?.deadline)
    }

    private func device(_ did: PeerID) -> PairedDevice? { devices.first { $0.did == did } }

    // MARK: What is put in

    /// A push that the store has put in the outboxes under these numbers. `then` gets those who have it.
    func push(
        _ event: NotificationEvent, numbered seqs: [PeerID: Int64], then: (@EventLoop (Set<PeerID>) -> Void)?
    ) {
        var open: [PeerID: Int64] = [:]
        for (did, seq) in seqs {
            guard let device = device(did) else { continue }
            var event = event
            event.pushSeq = seq
            change(device) { $0.enqueued(Outbox.Entry(seq: seq, event: event), now: EventLoop.now) }
            warnOfLimit(device, seq)
            if isOnline, outboxes[did]?.isAbsent == false { open[did] = seq }
        }
        guard let then else { return }
        finish(pushes.add(open, now: EventLoop.now, then: then))
        armOutboxTimer(by: pushes.nextDeadline)
    }

    private func warnOfLimit(_ device: PairedDevice, _ seq: Int64) {
        guard let position = outboxes[device.did]?.position, seq - position.acknowledged == Outbox.limit + 1 else {
            return
        }
        channel.problem(
            "outbox_full",
            "a device has not come for \(Outbox.limit) pushes: from now on it loses the oldest; the history has them")
    }

    // MARK: What comes

    /// Something came from a device that is paired. What a relay had kept does not tell that it is there.
    func heard(of device: PairedDevice, over url: String, _ delivery: SignallingDelivery) {
        heardOver[device.did] = url
        guard delivery == .live else { return }
        absentOver[device.did]?.remove(url)
        guard outboxes[device.did] != nil else { return }
        change(device) { $0.heard(now: EventLoop.now) }
    }

    /// The device has said, in a seal, how far it is: with a hello after it has registered, else with an acknowledgement.
    func acknowledged(through seq: Int64, isHello: Bool, by device: PairedDevice, _ mark: SealMark) {
        settle(acknowledgements.came(mark))
        change(device) { $0.acknowledged(through: seq, isHello: isHello, now: EventLoop.now) }
    }

    /// The device has everything through this one.
    private func settle(_ did: PeerID, through seq: Int64) {
        finish(pushes.settled(did, through: seq))
        settle(acknowledgements.settle(through: seq, by: did))
    }

    /// When this is lost, what it would have taken out is sent once more after the next start.
    private func settle(_ work: AcknowledgementBatch<SealMark>.Work?) {
        guard let work else { return }
        database.submitLater(within: 50) { (connection) throws(StoreError) in
            for mark in work.marks { try SealStates(connection).save(mark) }
            for (device, seq) in work.settled { try Outbox(connection).settle(through: seq, by: device) }
        } then: { [weak self] result in
            EventLoop.post {
                guard let self else { return }
                if case .failure(let error) = result, error.code != .closed {
                    self.channel.log(.warning, "the outbox could not be brought up to date: \(error.message)")
                }
                self.settle(self.acknowledgements.finished())
            }
        }
    }

    private func renumber(_ did: PeerID, after seq: Int64) {
        store { (connection) throws(StoreError) -> Outbox.Position? in
            guard try PairedDevices(connection).find(did) != nil else { return nil }
            return try Outbox(connection).acknowledge(through: seq, by: did)
        } then: { core, result in
            guard let device = core.device(did) else { return }
            switch result {
            case .success(nil): break
            case .success(let position?):
                if position.shift != 0 { core.pushes.shifted(did, by: position.shift) }
                core.change(device) { $0.renumbered(position, now: EventLoop.now) }
                core.finish(core.pushes.settled(did, through: position.acknowledged))
            case .failure(let error):
                core.change(device) {
                    $0.renumberFailed(now: EventLoop.now)
                    return []
                }
                guard error.code != .closed else { return }
                core.channel.problem("store_failed", "an acknowledgement was dropped: \(error.message)")
            }
        }
    }

    /// A relay has nobody of that id. It is absent when none of those over which it is reached has.
    func wasCalledAbsent(_ peer: PeerID, over url: String) {
        guard let device = device(peer) else { return }
        absentOver[peer, default: []].insert(url)
        guard routes(to: peer).allSatisfy({ absentOver[peer]?.contains($0) == true }) else { return }
        change(device) {
            $0.wasCalledAbsent()
            return []
        }
        finish(pushes.absent(peer))
    }

    /// A relay says that it is there.
    func isPresent(_ peer: PeerID, over url: String) {
        guard let device = device(peer) else { return }
        absentOver[peer]?.remove(url)
        guard outboxes[peer] != nil else { return }
        change(device) { $0.heard(now: EventLoop.now) }
    }

    /// A connection has come up, or has ended: what was under way over it may be lost.
    func outboxesFollow(_ url: String, isOnline isUp: Bool) {
        for device in devices where outboxes[device.did] != nil {
            if isUp { absentOver[device.did]?.remove(url) }
            let via = heardOver[device.did]
            if let via, via != url, links[via]?.state.isOnline == true { continue }
            change(device) {
                if !isUp { $0.disconnected() }
                return isOnline ? $0.connected(now: EventLoop.now) : []
            }
        }
    }

    /// The desktop is being stopped.
    func endOutboxes() {
        for device in devices where outboxes[device.did] != nil {
            change(device) {
                let actions = $0.ended()
                $0.disconnected()
                return actions
            }
        }
    }

    func outboxesDue() {
        let now = EventLoop.now
        outboxTimerAt = nil
        for device in devices {
            guard let deadline = outboxes[device.did]?.deadline, deadline <= now else { continue }
            change(device) { $0.deadlineReached(now: now) }
        }
        finish(pushes.due(now: now, written: outboxes.compactMapValues(\.written)))
        for outbox in outboxes.values { armOutboxTimer(by: outbox.deadline) }
        armOutboxTimer(by: pushes.nextDeadline)
    }

    /// One that fires too early finds nothing to do, and is set anew.
    private func armOutboxTimer(by deadline: UInt64?) {
        guard let deadline, deadline < outboxTimerAt ?? .max else { return }
        outboxTimerAt = deadline
        outboxTimer.start(at: deadline)
    }

    // MARK: Carrying out

    private func perform(_ actions: [DeviceOutbox.Action], to device: PairedDevice) {
        for action in actions {
            switch action {
            case .read(let from, let through, let round): read(device.did, from, through, round)
            case .send(let seq, let frame):
                guard send(frame, seq, to: device) else { return }
            case .settle(let through): settle(device.did, through: through)
            case .renumber(let seq): renumber(device.did, after: seq)
            }
        }
    }

    /// `false` = it was not taken, and nothing after it is to be sent.
    private func send(_ frame: DeviceOutbox.Frame, _ seq: Int64, to device: PairedDevice) -> Bool {
        let payload: JSONValue
        switch frame {
        case .push(let event):
            payload = event.payload(
                as: NotificationEvent.Form(platform: device.platform, isBellwire: device.isSecure))
        case .skip(let through): payload = PushSkip(through: through).json
        }
        var isWritten = false
        var isTooLarge = false
        FailPoint.beforeSend.reach()
        for url in routes(to: device.did) {
            guard let link = links[url] else { continue }
            let result = send(payload, to: device.did, over: link)
            isWritten = isWritten || result.isWritten
            isTooLarge = isTooLarge || result == .tooLarge
        }
        FailPoint.afterSend.reach()
        if isWritten { return true }
        if isTooLarge { giveUp(seq, of: device.did) }
        outboxes[device.did]?.unsent(from: seq, now: EventLoop.now)
        return false
    }

    private func read(_ did: PeerID, _ from: Int64, _ through: Int64, _ round: UInt64) {
        let now = EpochMilliseconds.now
        store { (connection) throws(StoreError) in
            try Outbox(connection).page(of: did, from: from, through: through, now: now)
        } then: { core, result in
            guard let device = core.device(did) else { return }
            core.change(device) { outbox in
                switch result {
                case .success(let page): return outbox.read(page, round: round, now: EventLoop.now)
                case .failure:
                    outbox.readFailed(round: round, now: EventLoop.now)
                    return []
                }
            }
        }
    }

    private func giveUp(_ seq: Int64, of did: PeerID) {
        channel.log(.warning, "a push is larger than a frame may be, and was given up")
        store { (connection) throws(StoreError) in
            try Outbox(connection).remove(seq, of: did)
        } then: { _, _ in
        }
    }
}

extension Handled {
    /// Puts its push in the outboxes of those whom it is for, in the transaction that has put it in the history. Gives
    /// its numbers there.
    func queue(
        for secure: Set<PeerID>, in work: HistoryWork, now: EpochMilliseconds
    ) throws(StoreError) -> [PeerID: Int64] {
        guard let row else { return [:] }
        for effect in effects {
            guard case .push(let event, let peers) = effect else { continue }
            var recipients: [Outbox.Recipient] = []
            // Whoever was unpaired meanwhile has no outbox any more.
            for peer in peers where try PairedDevices(work.connection).find(peer) != nil {
                recipients.append(Outbox.Recipient(peer, isSealed: secure.contains(peer)))
            }
            return try work.enqueue(event, row: row, to: recipients, now: now)
        }
        return [:]
    }
}
