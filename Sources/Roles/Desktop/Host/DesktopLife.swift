import Hosting
import JSON
import Pairing
import Peering
import Signalling
import Store
import Transport
import Wire

/// Whether the desktop is started, and what runs only then: its own relay, the watch on the machine's sleep and network,
/// and the history's upkeep.
@EventLoop
final class DesktopLife {
    private enum Phase {
        case stopped
        /// Watches the machine, if the options enable it.
        case started(MachineWatch?)
        case closed
    }

    let relay: EmbeddedRelay
    let upkeep: HistoryUpkeep
    private let context: DesktopContext
    private let host: HostReports
    private var phase = Phase.stopped

    nonisolated init(_ context: DesktopContext, _ relay: EmbeddedRelay, _ host: HostReports) {
        (self.context, self.relay, self.host) = (context, relay, host)
        upkeep = HistoryUpkeep(database: context.store.database, host)
    }

    var isStarted: Bool { if case .started = phase { true } else { false } }
    var isClosed: Bool { if case .closed = phase { true } else { false } }
    /// Why something of the machine is not followed, for people.
    var notes: [String] { if case .started(let machine?) = phase { machine.notes } else { [] } }
    /// The relays that the desktop is registered with while it is started.
    var relayURLs: [String] { [relay.ownURL, context.options.common.relayURL].compactMap(\.self) }

    /// `false` = it was started before.
    func start(watching watch: () -> MachineWatch) throws(HostError) -> Bool {
        guard !isClosed else { throw HostError(.closed, "the handle was closed") }
        guard !isStarted else { return false }
        guard context.options.relay != nil || context.options.common.relayURL != nil else {
            throw HostError(.invalid, "the desktop has no relay; open it with \"relay\" or \"relay_url\"")
        }
        let machine = context.options.common.followsSystem ? watch() : nil
        do throws(HostError) {
            try relay.start(
                as: context.identity.deviceInfo.name, context.identity.did, on: machine?.bus, log: host.relayLog)
        } catch {
            machine?.stop()
            throw error
        }
        phase = .started(machine)
        upkeep.start()
        return true
    }

    /// The relay is stopped apart from that, once everybody has said goodbye.
    func end(isForGood: Bool) {
        if case .started(let machine) = phase { machine?.stop() }
        phase = isForGood ? .closed : .stopped
        if isForGood { upkeep.stop() }
    }
}
