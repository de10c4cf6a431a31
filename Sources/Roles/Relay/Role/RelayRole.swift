package import Hosting
import JSON
import Transport

/// A relay behind a handle: the side that a host's threads see.
package final class RelayRole: Role {
    private let core: RelayCore

    package var sources: [any EventSource] { [] }

    /// Reads the options. Nothing is bound until ``start(then:)``.
    package static func open(
        _ options: String?, _ channel: HostChannel
    ) throws(HostError) -> (RelayRole, threaded: Bool) {
        var object = try JSONObject(parameter: "options_json", options)
        var reader = OptionsReader(["threaded": object["threaded"]])
        let isThreaded = try reader.flag("threaded") ?? false
        object["threaded"] = nil
        let options: RelayOptions
        do throws(RelayError) {
            options = try RelayOptions(json: object)
            try startLoop()
        } catch {
            throw HostError(error)
        }
        let memory = try RelayMemory.open(options)
        if let damage = memory.damage { channel.problem(ofRelay: damage) }
        return (RelayRole(RelayCore(options, memory, channel)), isThreaded)
    }

    private static func startLoop() throws(RelayError) {
        do throws(TransportError) { try EventLoop.start() } catch {
            throw RelayError(RelayError.Code(error.code.name), error.message)
        }
    }

    private init(_ core: RelayCore) { self.core = core }

    package func start(then: @escaping Then) { EventLoop.post { [core] in core.start(then) } }

    package func stop() { EventLoop.post { [core] in core.stop {} } }

    package func state(then: @escaping Then) { EventLoop.post { [core] in core.describe(then) } }

    package func shutDown(then: @escaping @Sendable () -> Void) {
        EventLoop.post { [core] in
            core.shutDown(then)
        }
    }
}

/// The relay of a handle, on the event loop: there while it is started.
@EventLoop
private final class RelayCore {
    private let options: RelayOptions
    private let channel: HostChannel
    private var relay: Relay?
    /// Stopped, and saying good-bye.
    private var leaving: Relay?
    private let memory: RelayMemory
    private var isShutDown = false

    nonisolated init(_ options: RelayOptions, _ memory: RelayMemory, _ channel: HostChannel) {
        (self.options, self.memory, self.channel) = (options, memory, channel)
    }

    func start(_ then: Then) {
        guard !isShutDown else { return then(.failure(.closed)) }
        guard relay == nil else { return then(.success(.done)) }
        do throws(RelayError) {
            relay = try Relay.start(options, memory: memory, log: channel.relayLog)
            then(.success(.done))
        } catch {
            then(.failure(HostError(error)))
        }
    }

    func stop(_ then: @escaping @Sendable () -> Void) {
        guard let relay else {
            guard let leaving else { return then() }
            return leaving.stop { then() }
        }
        self.relay = nil
        leaving = relay
        relay.stop { [self] in
            if leaving === relay { leaving = nil }
            then()
        }
    }

    func shutDown(_ then: @escaping @Sendable () -> Void) {
        isShutDown = true
        stop { [memory] in memory.close(then: then) }
    }

    func describe(_ then: Then) {
        let state: JSONValue = [
            "started": .bool(relay != nil),
            "port": relay.map { .integer(Int64($0.port)) },
            "healthPort": (relay?.healthPort).map { .integer(Int64($0)) },
            "stats": relay?.statistics,
        ]
        then(.success(HostReply(state)))
    }
}

extension HostChannel {
    /// The relay's words go to the host's log; a warning of its is a `problem` as well.
    package var relayLog: RelayLog {
        { [self] level, message in
            switch level {
            case .info: log(.info, message)
            case .warning: problem("relay", message)
            }
        }
    }
}

extension HostError {
    package init(_ error: RelayError) {
        let code: Code =
            switch error.code {
            case .unknownOption, .invalidOption: .invalid
            case .outOfFiles: .limit
            default: .network
            }
        self.init(code, error.message, detail: ["reason": .string(error.code.name)])
    }
}

extension HostChannel {
    /// A relay's database was damaged.
    package func problem(ofRelay damage: String) { problem("database_damaged", damage) }
}
