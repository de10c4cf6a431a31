import JSON

/// The life of a client's connection to one of several servers: dial, greet, log in, stay alive, come back.
///
/// It has no sockets and no clock: times come in with each event, in milliseconds, and actions come out. After each event
/// the owner calls ``passed(at:random:)`` at ``deadline``.
package struct NATSConnectionStateMachine {
    package enum Action: Equatable {
        case dial(NATSServer)
        case startTLS
        case send([UInt8])
        case disconnect
        /// It can be used.
        case up(NATSServerInfo, NATSServer)
        /// It can't be used any more, or an attempt has failed.
        case down(NATSError)
        case deliver(NATSMessage, subscription: UInt64)
        /// The server complains of something that does not end the connection.
        case report(NATSError)
    }

    package struct Options: Sendable {
        package var servers: [NATSServer]
        package var credentials: NATSCredentials?
        /// The client's, for the server's log.
        package var name: String
        /// Whether it gets what it publishes itself.
        package var echoes = true

        package init(servers: [NATSServer], name: String, credentials: NATSCredentials? = nil) {
            (self.servers, self.name, self.credentials) = (servers, name, credentials)
        }
    }

    /// For all of connection, TLS and login together.
    static let connectTime: UInt64 = 5_000
    static let pingInterval: UInt64 = 2_000
    /// So many unanswered pings end the connection: a frozen server is noticed within six seconds.
    static let unansweredPings = 2
    /// Pauses after all servers have failed: from the first to the last, doubling, at random the upper half of it.
    static let pauses: ClosedRange<UInt64> = 100...2_000

    private enum State: Equatable {
        case stopped
        case pausing(until: UInt64)
        case connecting(Step, until: UInt64)
        case up(nextPing: UInt64, unanswered: Int)
    }

    private enum Step {
        case dialling
        case greeting
        case securing
        case loggingIn
    }

    private struct Subscription {
        let subject: String
        let queue: String?
    }

    private let options: Options
    /// The given ones, then those that servers named.
    private var servers: [NATSServer]
    private var place = 0
    /// Servers that failed since one worked.
    private var failures = 0
    private var state = State.stopped
    private var info: NATSServerInfo?
    private var parser = NATSParser()
    private var subscriptions: [UInt64: Subscription] = [:]
    private var nextSubscription: UInt64 = 1

    package init(_ options: Options) {
        self.options = options
        servers = options.servers
    }

    /// Whether there is a connection whose bytes mean something.
    private var isConnected: Bool {
        switch state {
        case .stopped, .pausing, .connecting(.dialling, _): false
        case .connecting, .up: true
        }
    }

    package var isUp: Bool { if case .up = state { true } else { false } }

    /// The largest message that the server takes, with its headers; 0 while there is none.
    package var maximumPayload: Int { isUp ? info?.maximumPayload ?? 0 : 0 }

    package var deadline: UInt64? {
        switch state {
        case .stopped: nil
        case .pausing(let until), .connecting(_, let until): until
        case .up(let nextPing, _): nextPing
        }
    }

    private var server: NATSServer? { servers.isEmpty ? nil : servers[place % servers.count] }

    // MARK: The owner's wishes

    package mutating func start(at now: UInt64) -> [Action] {
        guard state == .stopped else { return [] }
        return dial(at: now)
    }

    package mutating func stop() -> [Action] {
        guard state != .stopped else { return [] }
        state = .stopped
        return [.disconnect]
    }

    /// Remembers a subscription for this connection and those to come. Both names must have been checked.
    package mutating func subscribe(_ subject: String, queue: String?) -> (id: UInt64, actions: [Action]) {
        let id = nextSubscription
        nextSubscription += 1
        subscriptions[id] = Subscription(subject: subject, queue: queue)
        return (id, isUp ? [.send(NATSEncoder.subscribe(subject, queue: queue, id: id))] : [])
    }

    package mutating func unsubscribe(_ id: UInt64) -> [Action] {
        guard subscriptions.removeValue(forKey: id) != nil, isUp else { return [] }
        return [.send(NATSEncoder.unsubscribe(id))]
    }

    // MARK: What happens

    package mutating func connected(at now: UInt64) -> [Action] {
        guard case .connecting(.dialling, let until) = state else { return [] }
        parser = NATSParser()
        state = .connecting(.greeting, until: until)
        return []
    }

    package mutating func secured(at now: UInt64) -> [Action] {
        guard case .connecting(.securing, _) = state else { return [] }
        return logIn(at: now)
    }

    /// Bytes came in.
    ///
    /// - Parameter random: for the pause after a failure; any number.
    package mutating func received(_ bytes: UnsafeRawBufferPointer, at now: UInt64, random: UInt64) -> [Action] {
        guard isConnected else { return [] }
        let operations: [NATSParser.Operation]
        do throws(NATSError) { operations = try parser.take(bytes) } catch {
            return fail(error, at: now, random: random)
        }
        var actions: [Action] = []
        // What follows an error was sent on a connection that is given up.
        for operation in operations where isConnected { actions += take(operation, at: now, random: random) }
        return actions
    }

    /// The connection could not be made, or has ended.
    package mutating func ended(_ reason: String, at now: UInt64, random: UInt64) -> [Action] {
        switch state {
        case .stopped, .pausing: []
        case .connecting, .up: fail(NATSError(.disconnected, reason), at: now, random: random)
        }
    }

    /// ``deadline`` has passed.
    package mutating func passed(at now: UInt64, random: UInt64) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        switch state {
        case .stopped: return []
        case .pausing: return dial(at: now)
        case .connecting(let step, _):
            let what =
                switch step {
                case .dialling: "connecting"
                case .greeting: "its greeting"
                case .securing: "the TLS handshake"
                case .loggingIn: "the login"
                }
            let message = "\(what) took longer than \(Self.connectTime) ms"
            return fail(NATSError(.unresponsive, message), at: now, random: random)
        case .up(_, let unanswered):
            guard unanswered < Self.unansweredPings else {
                let message = "it has not answered for \(UInt64(unanswered) * Self.pingInterval) ms"
                return fail(NATSError(.unresponsive, message), at: now, random: random)
            }
            state = .up(nextPing: now &+ Self.pingInterval, unanswered: unanswered + 1)
            return [.send(NATSEncoder.ping)]
        }
    }

    // MARK: Steps

    private mutating func dial(at now: UInt64) -> [Action] {
        guard let server else { return [] }
        info = nil
        state = .connecting(.dialling, until: now &+ Self.connectTime)
        return [.dial(server)]
    }

    private mutating func take(_ operation: NATSParser.Operation, at now: UInt64, random: UInt64) -> [Action] {
        switch operation {
        case .info(let value): return greet(NATSServerInfo(value), at: now, random: random)
        case .ping: return [.send(NATSEncoder.pong)]
        case .pong: return ponged(at: now)
        case .ok: return []
        case .message(let message, let id):
            guard isUp, subscriptions[id] != nil else { return [] }
            return [.deliver(message, subscription: id)]
        case .error(let text):
            if text.lowercased().hasPrefix("permissions violation") {
                return [.report(NATSError(.forbidden, "the NATS server permits less than is needed: \(text)"))]
            }
            let isLogin = ["authorization", "authentication", "account"].contains { text.lowercased().contains($0) }
            return fail(NATSError(isLogin ? .unauthorized : .refused, text), at: now, random: random)
        }
    }

    private mutating func greet(_ info: NATSServerInfo, at now: UInt64, random: UInt64) -> [Action] {
        self.info = info
        parser.maximumPayload = max(parser.maximumPayload, min(info.maximumPayload, NATSParser.mostPayload))
        learn(info.addresses)
        switch state {
        case .connecting(.greeting, let until):
            guard info.hasHeaders else {
                let message = "version \(info.version) has no headers; NATS 2.9 or later is needed"
                return fail(NATSError(.unsupported, message), at: now, random: random)
            }
            guard info.requiresTLS || server?.requiresTLS == true else { return logIn(at: now) }
            guard info.requiresTLS || info.offersTLS else {
                return fail(NATSError(.unsupported, "it does not offer TLS"), at: now, random: random)
            }
            state = .connecting(.securing, until: until)
            return [.startTLS]
        case .up where info.isLeaving && servers.count > 1:
            return fail(NATSError(.disconnected, "it is about to stop"), at: now, random: random)
        case .stopped, .pausing, .connecting, .up: return []
        }
    }

    /// Servers of a cluster name each other.
    private mutating func learn(_ addresses: [String]) {
        guard let server else { return }
        for address in addresses where servers.count < options.servers.count + NATSServerInfo.maximumAddresses {
            guard let sibling = server.sibling(address), !servers.contains(where: { $0.isAt(sibling) }) else {
                continue
            }
            servers.append(sibling)
        }
    }

    private mutating func logIn(at now: UInt64) -> [Action] {
        guard case .connecting(_, let until) = state else { return [] }
        state = .connecting(.loggingIn, until: until)
        var login: JSONObject = [
            "verbose": false, "pedantic": false, "headers": true, "no_responders": true, "protocol": 1,
            "lang": "swift", "version": "1", "name": .string(options.name), "echo": .bool(options.echoes),
            "tls_required": .bool(info?.requiresTLS == true || server?.requiresTLS == true),
        ]
        switch server?.login {
        case .password(let user, let password)?: (login["user"], login["pass"]) = (.string(user), .string(password))
        case .token(let token)?: login["auth_token"] = .string(token)
        case .some(.none), nil: break
        }
        if let credentials = options.credentials, let nonce = info?.nonce {
            login["sig"] = .string(credentials.signature(of: nonce))
            if let jwt = credentials.jwt {
                login["jwt"] = .string(jwt)
            } else {
                login["nkey"] = .string(credentials.publicKey)
            }
        }
        return [.send(NATSEncoder.connect(login) + NATSEncoder.ping)]
    }

    private mutating func ponged(at now: UInt64) -> [Action] {
        switch state {
        case .connecting(.loggingIn, _):
            guard let info, let server else { return [] }
            failures = 0
            state = .up(nextPing: now &+ Self.pingInterval, unanswered: 0)
            let all = subscriptions.sorted { $0.key < $1.key }.flatMap {
                NATSEncoder.subscribe($0.value.subject, queue: $0.value.queue, id: $0.key)
            }
            return (all.isEmpty ? [] : [.send(all)]) + [.up(info, server)]
        case .up(let nextPing, _):
            state = .up(nextPing: nextPing, unanswered: 0)
            return []
        case .stopped, .pausing, .connecting: return []
        }
    }

    /// Goes to the next server: at once, or after a pause when all have failed.
    private mutating func fail(_ error: NATSError, at now: UInt64, random: UInt64) -> [Action] {
        let name = server?.name ?? ""
        let described = NATSError(error.code, "NATS server \(name): \(error.message)")
        place = (place + 1) % max(1, servers.count)
        failures += 1
        let rounds = UInt64(failures / max(1, servers.count))
        guard rounds > 0 else { return [.disconnect, .down(described)] + dial(at: now) }
        let pause = min(Self.pauses.upperBound, Self.pauses.lowerBound << min(rounds - 1, 10))
        state = .pausing(until: now &+ pause / 2 &+ random % (pause / 2 + 1))
        return [.disconnect, .down(described)]
    }
}
