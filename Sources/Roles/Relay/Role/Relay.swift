internal import Glibc
internal import Identity
package import Transport

/// A relay: routes frames between peers and stores them for absent ones (Wire, "Routing").
///
/// It runs on the event loop of the process: alone as `bellwire relay`, or inside a desktop on its LAN.
/// ``RelayStateMachine`` decides; this type acts.
@EventLoop
package final class Relay {
    // Exclusive by what they are, so not asked at run time for each message: all accesses are on the loop, and neither
    // the machine nor a socket ever calls back from inside a call.
    @exclusivity(unchecked)
    var machine: RelayStateMachine
    /// By the slots of ``ConnectionID``.
    @exclusivity(unchecked)
    var sockets: [WebSocket?] = []
    var listener: HTTPListener?
    var healthListener: HTTPListener?
    private(set) var options: RelayOptions
    let hooks: RelayHooks
    let log: RelayLog
    let memory: RelayMemory
    var ownOrigins: OwnOrigins?
    let startedAt: Moment
    var tallies = Tallies()
    /// Where a routed frame is laid out for its socket; nothing stays there.
    let pieces = FramePieces()
    var timing = Timing()
    @exclusivity(unchecked)
    private var moment: Moment
    private var life = Life.running

    private enum Life {
        case running
        /// `then` waits for the last connection; the timer cuts off those that don't answer the close handshake.
        case stopping(then: @EventLoop () -> Void, farewell: LoopTimer?)
        case stopped
    }

    struct Timing {
        /// Fires once a second.
        var ticker: LoopTimer?
        var ticks = 0
        let pauses = ReadPauses()
    }

    /// Counts that the machine can't know, and what the log has been told once.
    struct Tallies {
        var slowReaders: UInt64 = 0
        var unfinishedMessages: UInt64 = 0
        var floods: UInt64 = 0
        var turnedAway: UInt64 = 0
        /// Proofs that could not be written to disk.
        var unsavedProofs: UInt64 = 0
        var hasLoggedConnectionLimit = false
        var hasLoggedPause = false
        var hasLoggedUnkeptProofs = false
    }

    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - memory: what it keeps from one start to the next; without one, ids that were proved are forgotten when it
    ///     stops, and a state directory in the options means nothing.
    ///   - alsoDialledAs: for an owner that dials it too, whatever origins the options name: it then goes by its addresses
    ///     with the port that it gets as well, and by these origins. `nil` = by its options alone.
    /// - Throws: ``RelayError/Code/addressInUse``, ``RelayError/Code/tlsFailed``, and other codes of Transport.
    package static func start(
        _ options: RelayOptions, memory: RelayMemory? = nil, alsoDialledAs: [String]? = nil,
        hooks: RelayHooks = RelayHooks(), log: @escaping RelayLog = { _, _ in }
    ) throws(RelayError) -> Relay {
        do throws(IdentityError) { try Identity.start() } catch {
            throw RelayError(RelayError.Code(error.code.name), error.message)
        }
        let relay = Relay(options, memory ?? RelayMemory(options), hooks, log: log)
        do throws(RelayError) {
            try relay.listen(alsoDialledAs)
        } catch {
            relay.stop()
            throw error
        }
        return relay
    }

    private init(_ options: RelayOptions, _ memory: RelayMemory, _ hooks: RelayHooks, log: @escaping RelayLog) {
        self.memory = memory
        self.hooks = hooks
        self.options = options
        self.log = log
        machine = RelayStateMachine(
            limits: options.limits, proved: memory.proved, isClustered: hooks.cluster != nil)
        moment = Moment(monotonic: EventLoop.now, epoch: Self.epoch)
        startedAt = moment
    }

    /// The port it listens on, also when it was asked for any.
    package var port: UInt16 { listener?.port ?? 0 }

    /// The port of the health pages; `nil` = there are none.
    package var healthPort: UInt16? { healthListener?.port }

    private var listening: HTTPListenerOptions {
        var listening = HTTPListenerOptions()
        listening.allowedOrigins = options.allowedOrigins
        listening.maximumConnections =
            options.admission.maximumConnections > 0 ? options.admission.maximumConnections : Self.fileLimit
        // Who has not even asked for a WebSocket has not registered either.
        listening.maximumPendingPerAddress = options.admission.maximumUnregisteredPerAddress
        listening.webSocket.maximumMessage = options.traffic.maximumFrame
        listening.webSocket.maximumUnsent = options.traffic.maximumQueuedBytes
        listening.webSocket.maximumMinorFrames = options.traffic.maximumFramesPerSecond
        listening.receiving = options.receiving
        listening.reusesPort = hooks.reusesPort
        listening.descriptor = hooks.descriptor
        return listening
    }

    private func listen(_ alsoDialledAs: [String]?) throws(RelayError) {
        if let archive = hooks.archive {
            machine.restore(hooks.archived, at: now())
            archive.keep(machine.takeArchiveChanges())
        }
        do throws(TransportError) {
            listener = try HTTPListener(
                host: options.host, port: options.port, tls: options.tls, options: listening, handler: self)
            listener?.proxies = hooks.proxies
            if let health = options.health {
                healthListener = try HTTPListener(host: health.host, port: health.port, handler: self)
            }
        } catch {
            throw RelayError(RelayError.Code(error.code.name), error.message)
        }
        ownOrigins = OwnOrigins(options, port: port, alsoDialledAs: alsoDialledAs)
        let timer = LoopTimer { [weak self] in self?.tick() }
        timer.start(after: 1_000, every: 1_000)
        timing.ticker = timer
    }

    // MARK: Changes while it runs

    /// Other limits, origins and allowed ids, without a connection less, except those whose id is not allowed any more.
    /// Addresses, `tls`, `max_receiving_bytes` and `state_dir` stay as they were.
    package func change(_ options: RelayOptions) {
        var options = options
        (options.host, options.port, options.health) = (self.options.host, self.options.port, self.options.health)
        (options.tls, options.stateDirectory) = (self.options.tls, self.options.stateDirectory)
        self.options = options
        machine.change(options.limits)
        listener?.change(listening)
        ownOrigins = OwnOrigins(options, port: port)
        perform(machine.expelDisallowed())
    }

    /// Another certificate for the connections to come; on an error the one before stays.
    package func renew(_ tls: TLSServerOptions) throws(RelayError) {
        do throws(TransportError) { try listener?.renew(tls) } catch {
            throw RelayError(RelayError.Code(error.code.name), error.message)
        }
    }

    /// Whether newcomers are accepted now.
    package var isAccepting: Bool {
        guard let listener, !isStopping else { return false }
        return !listener.isAtLimit && !tallies.hasLoggedPause
    }

    /// Stops accepting; other processes on the port get new connections. Open ones stay.
    package func stopListening() { listener?.close() }

    /// Says `server-shutdown` to so many connections and closes them. Returns how many are open then.
    package func dismiss(_ count: Int) -> Int {
        var left = count
        for socket in sockets {
            guard left > 0 else { break }
            guard let socket, socket.isOpen else { continue }
            sayFarewell(socket)
            left -= 1
        }
        return left > 0 ? 0 : sockets.count { $0?.isOpen == true }
    }

    private func sayFarewell(_ socket: WebSocket) {
        RelayFrame.shutdown(at: now()).withUnsafeBytes { _ = socket.send($0) }
        socket.close(code: CloseCause.shutdown.code, reason: CloseCause.shutdown.reason)
    }

    // MARK: Stopping

    /// What peers have for their part of the close handshake when the relay stops, in milliseconds.
    static let farewell: UInt64 = 1_000

    /// Tells every connection `server-shutdown` and closes it. `then` is called when the last one has ended: those that
    /// do not answer the close handshake within a second are cut off. Stopping again is harmless: it waits for the same
    /// end.
    package func stop(then: @escaping @EventLoop () -> Void = {}) {
        switch life {
        case .stopped: return then()
        case .stopping(let earlier, let farewell):
            life = .stopping(
                then: {
                    earlier()
                    then()
                }, farewell: farewell)
            return
        case .running: break
        }
        // A timer that holds the relay until the end, which lets go of it.
        let timer = LoopTimer { self.sockets.forEach { $0?.abort() } }
        life = .stopping(then: then, farewell: timer)
        memory.proved = machine.proved
        listener?.close()
        healthListener?.close()
        timing.ticker?.stop()
        for socket in sockets {
            if let socket { sayFarewell(socket) }
        }
        timer.start(after: Self.farewell)
        finishStopping()
    }

    /// Ends the stopping once the last connection has gone.
    func finishStopping() {
        guard case .stopping(let then, _) = life, machine.connectionCount == 0 else { return }
        life = .stopped
        // `then` may release the relay, so it is not called in the middle of something.
        EventLoop.post { withExtendedLifetime(self) { then() } }
    }

    var isStopping: Bool {
        switch life {
        case .running: false
        case .stopping, .stopped: true
        }
    }

    // MARK: Time

    /// The time of this wake-up; the wall clock is read once for each millisecond of it.
    @inline(__always)
    func now() -> Moment {
        let monotonic = EventLoop.now
        if monotonic != moment.monotonic { moment = Moment(monotonic: monotonic, epoch: Self.epoch) }
        return moment
    }

    private static var epoch: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000 &+ Int64(time.tv_nsec) / 1_000_000
    }

    private func tick() {
        perform(machine.tick(at: now()))
        timing.ticks &+= 1
        guard timing.ticks % 60 == 0 else { return }
        machine.sweep(at: now())
        archiveChanges()
    }

    /// What the process may open, less 64 for everything else it does (at least 1).
    private static var fileLimit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 - 64 }
        return max(1, Int(clamping: limit.rlim_cur) - 64)
    }
}
