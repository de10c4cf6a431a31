import Hosting
import JSON
import Relay
import SystemServices
import Transport
import Wire

/// The relay that a desktop carries: started and stopped with it, announced on the local network, and kept in memory
/// between starts.
@EventLoop
final class EmbeddedRelay {
    private let options: RelayOptions?
    private let memory: RelayMemory?
    /// What the desktop's codes name instead of the relay's own address.
    private let signalingURL: String?
    private var relay: Relay?
    /// Stopped, and still sending its goodbyes.
    private var leaving: Relay?
    private var announcement: RelayAnnouncement?
    /// The URL that the desktop itself uses; `nil` = there is no such relay, or it was never started.
    private(set) var ownURL: String?

    nonisolated init(_ options: RelayOptions?, memory: RelayMemory?, signalingURL: String?) {
        (self.options, self.memory, self.signalingURL) = (options, memory, signalingURL)
    }

    /// Does nothing if there is no relay, or if it is running.
    ///
    /// - Parameter bus: the bus on which to announce it; `nil` = none.
    func start(as name: String, _ peer: PeerID, on bus: Bus?, log: @escaping RelayLog) throws(HostError) {
        guard let options, relay == nil else { return }
        // Devices dial the URL in the codes; the options name the relay's other origins (Wire, "Proof of an id").
        let origin = signalingURL.flatMap { try? WebSocketURL($0).origin }
        do throws(RelayError) {
            let relay = try Relay.start(
                options, memory: memory, alsoDialledAs: [origin].compactMap(\.self), log: log)
            self.relay = relay
            let address = LocalRelayAddress(options, port: relay.port)
            ownURL = address.own(signalingURL: signalingURL)
            if let bus, !address.isLoopback {
                announcement = RelayAnnouncement(on: bus, name: name, port: relay.port, did: peer.text)
            }
        } catch {
            throw HostError(error)
        }
    }

    /// Calls `then` once all peers are disconnected, also if it was stopped before.
    func stop(then: @escaping @EventLoop () -> Void) {
        announcement?.stop()
        announcement = nil
        guard let relay else {
            guard let leaving else { return then() }
            return leaving.stop(then: then)
        }
        self.relay = nil
        leaving = relay
        relay.stop { [weak self] in
            if let self, self.leaving === relay { self.leaving = nil }
            then()
        }
    }

    /// Releases everything that is kept between starts. Call it after the last ``stop(then:)``.
    func close(then: @escaping @Sendable () -> Void) {
        guard let memory else { return then() }
        memory.close(then: then)
    }

    /// What a code names: the host's own address, else the relay's on the local network.
    var offeredURL: String? {
        signalingURL ?? relay.flatMap { relay in options.map { LocalRelayAddress($0, port: relay.port).lan } }
    }

    /// `{"port","healthPort"?,"note"?}`; `nil` while it does not run.
    var json: JSONValue? {
        relay.map { relay in
            .object([
                "port": .integer(Int64(relay.port)),
                "healthPort": relay.healthPort.map { .integer(Int64($0)) },
                "note": announcement?.note.map(JSONValue.string),
            ])
        }
    }
}
