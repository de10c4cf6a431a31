import Hosting
import JSON
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

/// A device whose pairing is on its way to the disk.
struct Storing {
    /// Written by so many flows up to now, and that many of them are done.
    var begun: Int64 = 1
    var done: Int64 = 0
    /// Those up to here were begun before it was unpaired.
    var unpairedThrough: Int64 = 0

    /// It was unpaired while they were under way.
    mutating func unpair() { unpairedThrough = begun }
    /// What it has sent meanwhile.
    var held: [(RelayMessage, String)] = []
}

// What the three flows have in common.
extension DesktopCore {
    var identity: PairingIdentity {
        PairingIdentity(
            did: peerID,
            deviceInfo: PairingDeviceInfo(
                name: options.common.name, platform: options.common.platform, version: libraryVersion.description))
    }

    var isOnline: Bool { links.values.contains { $0.state.isOnline } }

    /// The user's answer to the device that a flow has named.
    func confirm(_ flow: Desktop.Flow?, _ accept: Bool, _ then: Then) {
        let asking = asking
        if flow == nil, asking.count > 1 {
            let names = asking.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            return then(.failure(HostError(.invalid, "more than one flow asks; name one of \(names)")))
        }
        switch flow ?? asking.first {
        case .offer: taken(offering.answer(accept: accept, now: .now), then, perform)
        case .scan: taken(scanning.answer(accept: accept, now: .now), then, perform)
        case .code: taken(coding.answer(accept: accept, now: .now), then, perform)
        case nil: then(.failure(.nothingToConfirm))
        }
    }

    private func taken<Action>(_ answer: PairingAnswer<Action>, _ then: Then, _ perform: ([Action]) -> Void) {
        switch answer {
        case .nothingWaits: then(.failure(.nothingToConfirm))
        case .taken(let actions):
            then(.success("{}"))
            perform(actions)
        }
    }

    /// The flows in which a person is asked.
    private var asking: [Desktop.Flow] {
        var asking: [Desktop.Flow] = []
        if case .acked(_, .some) = offering.reported { asking.append(.offer) }
        if case .confirming = scanning.reported { asking.append(.scan) }
        if case .acked(_, .some) = coding.reported { asking.append(.code) }
        return asking
    }

    func cancel(_ flow: Desktop.Flow?) {
        let cancelled = HostError(PairingFailure(.cancelled))
        for flow in flow.map({ [$0] }) ?? Desktop.Flow.allCases {
            switch flow {
            case .offer:
                endWaitingOffers(.failure(cancelled))
                perform(offering.cancel())
            case .scan: perform(scanning.cancel())
            case .code:
                endWaitingCodes(.failure(cancelled))
                perform(coding.cancel())
            }
        }
    }

    /// The desktop goes offline.
    func endFlows() {
        perform(offering.cancel())
        perform(scanning.cancel())
        perform(coding.cancel())
        closeAlias()
    }

    func report(_ data: JSONObject) {
        channel.post(HostEvent(.pairingChanged, data: data))
        // Whoever was not paired needs no record of what it sent.
        if !offering.isActive, !scanning.isActive, !coding.isActive { (pairingMarks, pairedBy) = ([:], [:]) }
    }

    // MARK: Waiting for a relay

    func expireWaiting() {
        let offers = waitingOffers.takeExpired(now: EventLoop.now)
        let codes = waitingCodes.takeExpired(now: EventLoop.now)
        armWaitingTimer()
        let wasOnline = isOnline
        // Before they hear of it: nobody is left who could show the code.
        if !codes.isEmpty, waitingCodes.isEmpty, case .connecting = coding.reported { perform(coding.cancel(.timeout)) }
        let problem = connection["routes"]?.array?.lazy.compactMap { $0["problem"]?.string }.first
        let noRelay = "no relay has registered the desktop in time" + (problem.map { ": \($0)" } ?? "")
        for waiter in offers { waiter(.failure(HostError(.offline, noRelay))) }
        let noAlias = HostError(.timeout, "the relay has not registered the code in time")
        for waiter in codes { waiter(.failure(wasOnline ? noAlias : HostError(.offline, noRelay))) }
    }

    func armWaitingTimer() {
        waitingTimer.start(at: [waitingOffers.nextDeadline, waitingCodes.nextDeadline].compactMap { $0 }.min())
    }

    // MARK: Storing

    /// Writes the device down, with the seals that have brought it here, and tells its flow.
    func store(_ device: PairedDevice, for flow: Desktop.Flow) {
        let did = device.did
        let marks = pairingMarks.removeValue(forKey: did) ?? []
        let pairedBy = pairedBy.removeValue(forKey: did)
        if storing[did] == nil { storing[did] = Storing() } else { storing[did]?.begun += 1 }
        let number = storing[did]?.begun ?? 1
        store { (connection) throws(StoreError) in
            for mark in marks { try SealStates(connection).save(mark) }
            if let pairedBy { try SealStates(connection).begin(pairedBy) }
            try UnpairNotices(connection).remove(did)
            return try PairedDevices(connection).upsert(device)
        } then: { core, result in
            let isUnpaired = number <= core.storing[did]?.unpairedThrough ?? 0
            switch result {
            case .success(let stored) where !isUnpaired:
                if stored.isSecure { core.sealer.keep(did, since: pairedBy) }
                core.notices[did] = nil
                core.replace(stored)
                core.stored(stored, for: flow)
                core.tellDevices()
            case .success: core.storeFailed(device, "it was unpaired meanwhile", for: flow)
            case .failure(let error): core.storeFailed(device, error.message, for: flow)
            }
            core.release(did)
            core.serveWaitingOffers()
            core.serveWaitingCodes()
        }
    }

    private func stored(_ device: PairedDevice, for flow: Desktop.Flow) {
        switch flow {
        case .offer: perform(offering.stored(device, now: .now))
        case .scan: perform(scanning.stored(device, now: .now))
        case .code: perform(coding.stored(device, now: .now))
        }
    }

    private func storeFailed(_ device: PairedDevice, _ detail: String, for flow: Desktop.Flow) {
        switch flow {
        case .offer: perform(offering.storeFailed(device.did, detail: detail))
        case .scan: perform(scanning.storeFailed(device, detail: detail))
        case .code: perform(coding.storeFailed(device.did, detail: detail))
        }
    }

    /// What came while the pairing was being stored comes now.
    private func release(_ did: PeerID) {
        storing[did]?.done += 1
        guard let stored = storing[did], stored.done == stored.begun else { return }
        storing[did] = nil
        for (message, url) in stored.held { received(message, over: url) }
    }
}

extension HostError {
    init(_ failure: PairingFailure) {
        let code: Code = failure.reason == .storeFailed ? .store : .pairing
        self.init(code, failure.message, detail: ["reason": .string(failure.reason.rawValue)])
    }

    fileprivate static let nothingToConfirm = HostError(.notFound, "no device waits to be confirmed")
}
