internal import Cluster
package import JSON
package import Relay
package import Transport

/// A relay that is run for others: with access control, proxies, metrics, reloads, and a store that survives a crash.
@EventLoop
package final class RelayService {
    private let manager: ServiceManager
    private let log: ServiceLog
    private let stores: ServiceStores
    let archive: ArchiveWriter?
    let access: Access
    private let proxies: TrustedProxies
    /// The other relays; `nil` = it works alone.
    let cluster: ClusterNode?
    let delay = LoopDelay()
    let relay: Relay
    private var healthListener: HTTPListener?
    /// As it was started; ``reload(_:_:)`` changes what can be changed.
    private let settings: ServiceSettings
    private var drainWithin: UInt64
    private var lists: AccessLists
    private var drain: Drain?
    private var watchdog: LoopTimer?

    /// Connections are being closed, one after the other.
    private struct Drain {
        var schedule: DrainSchedule
        let startedAt: UInt64
        let timer: LoopTimer
        var isStopping = false
        var then: [@EventLoop () -> Void]
    }

    /// Starts to listen, and tells the service manager.
    ///
    /// - Throws: ``ServiceError/Code/notStarted``. The stores are closed then.
    package static func start(
        _ settings: ServiceSettings, _ lists: AccessLists, _ stores: ServiceStores,
        manager: ServiceManager = ServiceManager(), log: @escaping ServiceLog
    ) throws(ServiceError) -> RelayService {
        do throws(ServiceError) {
            let node = try node(settings, log)
            do throws(RelayError) {
                return try RelayService(settings, lists, stores, node, manager, log)
            } catch {
                throw ServiceError(.notStarted, error.message)
            }
        } catch {
            stores.close {}
            throw error
        }
    }

    private static func node(
        _ settings: ServiceSettings, _ log: @escaping ServiceLog
    ) throws(ServiceError) -> ClusterNode? {
        guard let options = try settings.cluster?.options() else { return nil }
        return ClusterNode(options) { isWarning, event, text in log(isWarning ? .warning : .info, event, text) }
    }

    private init(
        _ settings: ServiceSettings, _ lists: AccessLists, _ stores: ServiceStores, _ node: ClusterNode?,
        _ manager: ServiceManager, _ log: @escaping ServiceLog
    ) throws(RelayError) {
        (self.settings, self.lists, self.stores, self.manager, self.log) = (settings, lists, stores, manager, log)
        drainWithin = settings.drainWithin
        cluster = node
        archive = stores.frames.map { frames in
            ArchiveWriter(frames) { report in
                switch report {
                case .failing(let reason):
                    log(
                        .warning, "store_failing",
                        "cannot write stored frames to disk: \(reason); they are in memory only, and the relay retries")
                case .recovered: log(.info, "store_recovered", "writing stored frames to disk works again")
                }
            }
        }
        access = Access(lists.tokens)
        proxies = TrustedProxies(settings.proxies.trusted, usesPreamble: settings.proxies.usesPreamble)
        var hooks = RelayHooks()
        hooks.gate = access
        hooks.proxies = proxies
        hooks.archive = archive
        hooks.cluster = node
        hooks.archived = stores.archived
        hooks.reusesPort = settings.reusesPort
        hooks.descriptor = manager.sockets.first { $0.name != "health" }?.descriptor
        var options = settings.relay
        options.health = nil
        options.allowedIDs = lists.ids
        relay = try Relay.start(options, memory: stores.memory, hooks: hooks) { level, text in
            log(level, "relay", text)
        }
        try listenForHealth()
        node?.start(relay)
        if let interval = manager.watchdog {
            let timer = LoopTimer { manager.isAlive() }
            timer.start(after: interval, every: interval)
            watchdog = timer
        }
        manager.ready("Relay on port \(relay.port)")
    }

    private func listenForHealth() throws(RelayError) {
        var options = HTTPListenerOptions()
        options.descriptor = manager.sockets.first { $0.name == "health" }?.descriptor
        guard settings.health != nil || options.descriptor != nil else { return }
        let address = settings.health ?? RelayOptions.Address(host: "127.0.0.1", port: 0)
        do throws(TransportError) {
            healthListener = try HTTPListener(
                host: address.host, port: address.port, options: options, handler: self)
        } catch {
            relay.stop()
            throw RelayError(RelayError.Code(error.code.name), error.message)
        }
    }

    /// As `bw_relay_state()` describes a relay.
    package var state: JSONValue {
        [
            "started": true, "port": .integer(Int64(relay.port)),
            "healthPort": healthListener.map { .integer(Int64($0.port)) }, "stats": relay.statistics,
        ]
    }

    // MARK: Reload

    /// Takes over changed limits, lists, proxies and certificate. Open connections stay, but for those whose token or id
    /// is no longer permitted. What cannot be taken over is logged, and stays as it was.
    ///
    /// - Parameter lists: `nil` = they could not be read; those before stay.
    package func reload(_ settings: ServiceSettings, _ lists: AccessLists?) {
        guard drain == nil else { return }
        manager.reloading()
        warnAboutFixed(settings)
        if let tls = settings.relay.tls, self.settings.relay.tls != nil {
            do throws(RelayError) {
                try relay.renew(tls)
            } catch {
                log(.warning, "certificate_not_reloaded", "\(error.message); the relay keeps the previous one")
            }
        }
        var options = settings.relay
        options.health = nil
        let lists = lists.map { take($0) }
        options.allowedIDs = self.lists.ids
        relay.change(options)
        proxies.change(settings.proxies.trusted, usesPreamble: settings.proxies.usesPreamble)
        var closed = 0
        if let lists { closed = access.change(lists.tokens) }
        drainWithin = settings.drainWithin
        log(
            .info, "reloaded",
            "reload complete" + (closed == 0 ? "" : "; closed \(closed) connections of revoked tokens"))
        manager.ready("Relay on port \(relay.port)")
    }

    /// A configuration that no longer names a list may have lost it by mistake, and would open the relay to everyone: the
    /// list stays until a restart.
    private func take(_ new: AccessLists) -> AccessLists {
        var lists = new
        var lost: [String] = []
        if new.tokens == nil, let tokens = self.lists.tokens {
            lists.tokens = tokens
            lost.append("tokens_file")
        }
        if new.ids == nil, let ids = self.lists.ids {
            lists.ids = ids
            lost.append("allowed_ids_file")
        }
        if !lost.isEmpty {
            log(
                .warning, "access_not_reloaded",
                "the options no longer have \(lost.joined(separator: " and ")); the relay keeps the previous list. To admit "
                    + "everyone, restart it")
        }
        self.lists = lists
        return lists
    }

    private func warnAboutFixed(_ new: ServiceSettings) {
        var changed: [String] = []
        let old = settings
        if (new.relay.host, new.relay.port) != (old.relay.host, old.relay.port) { changed.append("listen") }
        if new.health != old.health { changed.append("health") }
        if (new.relay.tls == nil) != (old.relay.tls == nil) { changed.append("tls") }
        if new.relay.stateDirectory != old.relay.stateDirectory { changed.append("state_dir") }
        if new.reusesPort != old.reusesPort { changed.append("reuse_port") }
        if new.relay.traffic.maximumReceivingBytes != old.relay.traffic.maximumReceivingBytes {
            changed.append("max_receiving_bytes")
        }
        if new.maximumDiskBytes != old.maximumDiskBytes { changed.append("max_disk_bytes") }
        if new.cluster != old.cluster { changed.append("nats") }
        guard !changed.isEmpty else { return }
        log(.warning, "needs_restart", "changes of \(changed.joined(separator: ", ")) take effect after a restart")
    }

    // MARK: The end

    /// Stops accepting, then tells each connection `server-shutdown` and closes it, spread over `drain_ms`; then
    /// ``stop(then:)``. ``isReady`` is false from the beginning.
    package func drain(then: @escaping @EventLoop () -> Void) {
        guard drain == nil else {
            drain?.then.append(then)
            return
        }
        let connections = relay.stats.connections.current
        manager.stopping(within: drainWithin &+ 30_000)
        log(.info, "draining", "closing \(connections) connections within \(drainWithin) ms")
        relay.stopListening()
        let timer = LoopTimer { self.drainStep() }
        drain = Drain(
            schedule: DrainSchedule(connections: connections, milliseconds: drainWithin),
            startedAt: EventLoop.now, timer: timer, then: [then])
        timer.start(after: 0, every: DrainSchedule.longestStep)
    }

    private func drainStep() {
        guard var drain, !drain.isStopping else { return }
        let due = drain.schedule.due(after: EventLoop.now &- drain.startedAt)
        let left = relay.dismiss(due)
        drain.isStopping = drain.schedule.isOver || left == 0
        self.drain = drain
        guard drain.isStopping else { return }
        drain.timer.stop()
        end { self.drain?.then.forEach { $0() } }
    }

    /// Ends at once: tells all connections and closes them, writes what is to be written. Those that do not answer the
    /// close handshake within a second are cut off.
    package func stop(then: @escaping @EventLoop () -> Void) {
        guard drain == nil else {
            drain?.then.append(then)
            return
        }
        manager.stopping(within: 30_000)
        let timer = LoopTimer {}
        drain = Drain(
            schedule: DrainSchedule(connections: 0, milliseconds: 0), startedAt: EventLoop.now, timer: timer,
            isStopping: true, then: [then])
        end { self.drain?.then.forEach { $0() } }
    }

    private func end(_ then: @escaping @EventLoop () -> Void) {
        relay.stop {
            // Frames on their way to other relays come back at once, and are stored.
            self.cluster?.stop()
            EventLoop.post {
                guard let archive = self.archive else { return self.close(then) }
                archive.finish { self.close(then) }
            }
        }
    }

    private func close(_ then: @escaping @EventLoop () -> Void) {
        healthListener?.close()
        watchdog?.stop()
        stores.close { EventLoop.post { then() } }
    }

    // MARK: What is wrong

    /// Why new peers should go elsewhere; empty = ready.
    var problems: [String] {
        var problems: [String] = []
        if drain != nil {
            problems.append("draining")
        } else if !relay.isAccepting {
            problems.append("not_accepting")
        }
        if archive?.isFailing == true { problems.append("store_failing") }
        if cluster?.isConnected == false { problems.append("nats_disconnected") }
        return problems
    }

    var isDraining: Bool { drain != nil }
}

/// Takes what the service has to say: a level, the name of the event, and a text without ids, tokens and payloads.
/// Called on the event loop.
package typealias ServiceLog = @Sendable (RelayLogLevel, _ event: String, _ text: String) -> Void
