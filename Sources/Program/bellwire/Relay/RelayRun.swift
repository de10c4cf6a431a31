import Glibc
import JSON
import Relay
import RelayService
import Transport

/// `bellwire relay` from its start to its end: signals on this thread, the relay on the loop's.
final class RelayRun {
    private enum Message: Sendable {
        case started(JSONValue)
        case failed(ServiceError)
        case log(RelayLogLevel, String, String)
        case ended
    }

    /// The loop's own.
    @EventLoop
    private final class Holder {
        var service: RelayService?

        nonisolated init() {}
    }

    private let arguments: Arguments
    private let mail: LoopMail<Message>
    private let holder = Holder()
    private var settings: ServiceSettings
    private var log: RelayLogLines
    private var values: JSONObject

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        mail = try LoopMail()
        values = try RelayOptionNames.values(arguments)
        do throws(ServiceError) { settings = try ServiceSettings(json: values) } catch {
            throw RelayOptionNames.failure(error, arguments)
        }
        log = RelayLogLines(
            writesJSON: settings.logsJSON, isJSONCommand: arguments.has(.json), isVerbose: arguments.has(.verbose))
    }

    func run() throws(Failure) -> Exit {
        Interrupt.reportHangups()
        // Before any other thread could look at the environment.
        let manager = ServiceManager.fromEnvironment()
        let stores: ServiceStores
        let lists: AccessLists
        do throws(ServiceError) {
            lists = try settings.lists()
            stores = try ServiceStores.open(settings)
        } catch {
            throw Failure(error)
        }
        for text in stores.damage { log.write(.warning, "database_damaged", text) }
        start(lists, stores, manager)
        var hangups = Interrupt.hangups
        var stoppedBy = SIGTERM
        while true {
            try wait()
            for message in mail.take() {
                switch message {
                case .started(let state): announce(state)
                case .failed(let error): throw Failure(error)
                case .log(let level, let event, let text): log.write(level, event, text)
                case .ended: return .stopped(by: stoppedBy)
                }
            }
            while let signal = Interrupt.take() {
                stoppedBy = signal
                handle(signal)
            }
            if hangups != Interrupt.hangups {
                hangups = Interrupt.hangups
                reload()
            }
        }
    }

    private func start(_ lists: AccessLists, _ stores: ServiceStores, _ manager: ServiceManager) {
        EventLoop.post { [mail, holder, settings] in
            do throws(ServiceError) {
                let service = try RelayService.start(settings, lists, stores, manager: manager) { level, event, text in
                    mail.put(.log(level, event, text))
                }
                holder.service = service
                mail.put(.started(service.state))
            } catch {
                mail.put(.failed(error))
            }
        }
    }

    private func handle(_ signal: Int32) {
        switch signal {
        case SIGTERM, SIGHUP:
            EventLoop.post { [mail, holder] in
                guard let service = holder.service else { return mail.put(.ended) }
                service.drain { mail.put(.ended) }
            }
        default:
            EventLoop.post { [mail, holder] in
                guard let service = holder.service else { return mail.put(.ended) }
                service.stop { mail.put(.ended) }
            }
        }
    }

    /// Reads everything again. What is wrong is logged; the relay keeps what it has.
    private func reload() {
        let new: ServiceSettings
        do throws(Failure) {
            let values = try RelayOptionNames.values(arguments)
            do throws(ServiceError) { new = try ServiceSettings(json: values) } catch {
                throw RelayOptionNames.failure(error, arguments)
            }
        } catch {
            return log.write(.warning, "not_reloaded", "\(error.message); the relay keeps the previous options")
        }
        var lists: AccessLists?
        do throws(ServiceError) { lists = try new.lists() } catch {
            log.write(.warning, "lists_not_reloaded", "\(error.message); the relay keeps the previous lists")
        }
        EventLoop.post { [holder, lists] in holder.service?.reload(new, lists) }
    }

    private func announce(_ state: JSONValue) {
        let address = Address(values["listen"]?.string ?? "", port: state["port"]?.integer)
        let page = Address(values["health"]?.string ?? "", port: state["healthPort"]?.integer)
        let scheme = settings.relay.tls == nil ? "ws" : "wss"
        let health = settings.health == nil ? "" : ", health page http://\(page)/health"
        let text = "Relay at \(scheme)://\(address)\(health)"
        if arguments.has(.json) {
            Output.json(["event": "started", "data": state])
        } else {
            Output.line(text)
        }
        log.write(.info, "started", text)
    }

    private func wait() throws(Failure) {
        var entries = [Interrupt.descriptor, mail.descriptor].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        guard poll(&entries, nfds_t(entries.count), -1) >= 0 || errno == EINTR else {
            throw Failure(.failed, "poll failed: \(String(cString: strerror(errno)))")
        }
    }
}

/// `host:port` with the port that is actually in use.
struct Address: CustomStringConvertible {
    let description: String

    init(_ text: String, port: Int64?) {
        guard let port, let colon = text.lastIndex(of: ":") else {
            description = text
            return
        }
        description = "\(text[..<colon]):\(port)"
    }
}

extension Failure {
    /// - Parameter isTranslated: whether the message already has a user's words.
    init(_ error: ServiceError, isTranslated: Bool = false) {
        let exit: Exit =
            switch error.code {
            case .invalidOption, .unreadableFile, .invalidFile: .usage
            case .busy: .inUse
            default: .failed
            }
        let message = isTranslated ? error.message : LibraryWords.text(error.message)
        self.init(exit, message, error: ["message": .string(message), "detail": ["reason": .string(error.code.name)]])
    }
}
