import Commands
import Delivery
import Hosting
import JSON
import Notifications
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

// The paired desktops: renamed, unpaired, asleep and awake.
extension DeviceCore {
    private static let unpair: JSONValue = ["type": "bellwire:unpair", "payload": [:]]

    func rename(_ id: String, to name: String, _ then: @escaping Then) {
        guard let desktop = desktops.first(where: { $0.id.text == id }) else { return then(.failure(.noSuchDesktop)) }
        let peer = desktop.id
        store { (connection) throws(StoreError) in
            guard try PairedDesktops(connection).rename(peer, to: name) else { return PairedDesktop?.none }
            return try PairedDesktops(connection).find(peer)
        } then: { core, result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success(nil): then(.failure(.noSuchDesktop))
            case .success(let stored?):
                guard core.desktop(stored.id) != nil else { return then(.failure(.noSuchDesktop)) }
                core.replace(stored)
                then(.success("{}"))
            }
        }
    }

    func unpair(_ id: String, _ then: @escaping Then) {
        guard let desktop = desktops.first(where: { $0.id.text == id }) else { return then(.failure(.noSuchDesktop)) }
        let peer = desktop.id
        drop([desktop], tellingThem: true)
        store { (connection) throws(StoreError) in
            try ReceivedPushes(connection).forget(peer)
            try PushTokenTable(connection).forget(peer)
            _ = try PairedDesktops(connection).remove(peer)
        } then: { core, result in
            core.unpaired([desktop], result, then)
        }
    }

    func unpairAll(_ then: @escaping Then) {
        let all = desktops
        drop(all, tellingThem: true)
        store { (connection) throws(StoreError) in
            let removed = try PairedDesktops(connection).clear()
            for desktop in removed {
                try ReceivedPushes(connection).forget(desktop.id)
                try PushTokenTable(connection).forget(desktop.id)
            }
            return removed
        } then: { core, result in
            // Those too that were on their way to the disk.
            if case .success(let removed) = result {
                core.drop(removed.filter { core.desktop($0.id) != nil }, tellingThem: true)
            }
            core.unpaired(all, result.map { _ in }, then)
        }
    }

    private func unpaired(_ gone: [PairedDesktop], _ result: Result<Void, StoreError>, _ then: Then) {
        switch result {
        case .success:
            // What was on its way to the disk before has come back since. A later pairing comes behind this.
            drop(gone.filter { desktop($0.id) != nil }, tellingThem: false)
            then(.success("{}"))
        case .failure(let error):
            // They are still in the store: as they are listed, it can be tried again.
            for desktop in gone { replace(desktop) }
            if !isShutDown { reconcileLinks() }
            then(.failure(HostError(error)))
        }
    }

    /// A desktop has ended the pairing, in a seal.
    func wasUnpaired(by desktop: PairedDesktop, _ mark: SealMark?) {
        let peer = desktop.id
        store { (connection) throws(StoreError) in
            if let mark, try !SealStates(connection).save(mark) { return false }
            try ReceivedPushes(connection).forget(peer)
            try PushTokenTable(connection).forget(peer)
            return try PairedDesktops(connection).remove(peer)
        } then: { core, result in
            if case .success(true) = result { core.drop([desktop], tellingThem: false) }
        }
    }

    /// From here on they are strangers.
    private func drop(_ removed: [PairedDesktop], tellingThem: Bool) {
        for desktop in removed {
            if tellingThem, desktop.isSecure, let link = bestLink(to: desktop) {
                _ = send(Self.unpair, to: desktop, over: link)
            }
            fail(calls.forget(desktop.id), HostError(.notFound, "the desktop was unpaired"))
            sealer.dropBox(of: desktop.address)
            scanning.machine.removed(desktop.id)
            showing.machine.removed(desktop.id)
            desktops.removeAll { $0.id == desktop.id }
            toldConnections[desktop.id] = nil
            heardAt[desktop.id] = nil
            absent.remove(desktop.id)
            forgetQueue(of: desktop.id)
            forgetInbox(of: desktop.id)
            alerts.forget(desktop.id)
            pushes.forget(desktop.id)
            tokens.forget(desktop.id)
        }
        guard !removed.isEmpty else { return }
        tellPeers()
        reconcileLinks()
    }

    func tellPeers() { channel.post(HostEvent(.peersChanged, data: ["desktops": .array(desktopList)])) }

    /// As `bw_pairing_list` gives it.
    var desktopList: [JSONValue] {
        desktops.map { desktop in
            var object = desktop.json(at: .now)
            object["online"] = connection(of: desktop)["online"]
            return .object(object)
        }
    }

    // MARK: Sleep

    func suspend() {
        guard !isSuspended, !isShutDown else { return }
        isSuspended = true
        for flow in DevicePairingFlow.allCases { endSearch(for: flow) }
        perform(scanning.machine.suspended())
        perform(showing.machine.suspended())
        perform(typing.machine.suspended(now: .now))
        for link in links.values { link.suspend() }
        fail(calls.cancelAll(), HostError(.offline, "the device was suspended"))
        tellConnections()
    }

    func resume() {
        guard isSuspended, !isShutDown else { return }
        isSuspended = false
        for link in links.values { link.resume() }
        perform(scanning.machine.resumed(now: .now))
        perform(showing.machine.resumed(now: .now))
        perform(typing.machine.resumed(now: .now))
        tellConnections()
    }
}

extension HostError {
    static let noSuchDesktop = HostError(.notFound, "no paired desktop has this id; bw_pairing_list() has them")
}
