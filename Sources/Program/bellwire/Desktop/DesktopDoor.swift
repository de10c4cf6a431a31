import CBellwire
import Door
import Glibc
import JSON
import Transport

/// The HTTP door of one run of `bellwire desktop`: listens on the loop's thread, and pushes on the main one.
final class DesktopDoor {
    fileprivate struct Post: Sendable {
        let publication: Publication
        let completion: Door.Completion
    }

    private enum Message: Sendable {
        case listening(UInt16)
        case failed(String)
        case notice(String)
        case post(Post)
    }

    /// The loop's own.
    @EventLoop
    private final class Holder {
        var door: Door?

        nonisolated init() {}
    }

    private let handle: Handle
    private let mail: LoopMail<Message>
    private let holder = Holder()
    private let address: String
    /// `nil` = plain HTTP.
    private let certificate: TLSServerOptions?
    private var hangups = Interrupt.hangups
    /// When the user was last told that there are too many delayed notifications, in milliseconds since 1970.
    private var toldOfLimit: Int64?
    /// Tells the user where it listens.
    private let announce: (String) -> Void

    /// Posts wait in the kernel beyond these connections.
    private static let timeout: Int32 = 10_000

    var descriptor: Int32 { mail.descriptor }

    /// `nil`: the user wants none.
    init?(_ handle: Handle, _ arguments: Arguments, announce: @escaping (String) -> Void) throws(Failure) {
        guard let address = arguments.text(Command.httpAddress) else {
            for option in [Command.httpCertificate, Command.httpKey, Command.httpOpen, Command.httpName]
            where arguments.isWritten(option) {
                throw Failure(.usage, "--\(option.name) needs --http; see bellwire desktop --help")
            }
            return nil
        }
        guard let directory = try DesktopDirectory.path(arguments) else {
            throw Failure(.usage, "--http needs a state directory for its tokens")
        }
        guard let (host, port) = address.hostAndPort else {
            throw Failure(.usage, "--http: \"\(address)\" is not HOST:PORT")
        }
        var options = DoorOptions(host: host, port: port, directory: directory)
        options.opensToLoopback = arguments.has(Command.httpOpen)
        options.names = arguments.texts(Command.httpName)
        guard arguments.has(Command.httpCertificate) == arguments.has(Command.httpKey) else {
            throw Failure(.usage, "--http-certificate and --http-key must be given together")
        }
        if let certificate = arguments.text(Command.httpCertificate), let key = arguments.text(Command.httpKey) {
            options.tls = TLSServerOptions(certificateFile: certificate, keyFile: key)
        }
        (self.handle, self.address, self.announce, certificate) = (handle, address, announce, options.tls)
        mail = try LoopMail()
        listen(options)
    }

    private func listen(_ options: DoorOptions) {
        EventLoop.post { [mail, holder] in
            do throws(TransportError) {
                let door = try Door(
                    options, clock: { WallClock.milliseconds }, notice: { mail.put(.notice($0)) }
                ) { publication, completion in
                    mail.put(.post(Post(publication: publication, completion: completion)))
                }
                holder.door = door
                mail.put(.listening(door.port))
            } catch {
                mail.put(.failed(error.message))
            }
        }
    }

    /// Takes no more posts.
    func close() {
        EventLoop.post { [holder] in
            holder.door?.close()
            holder.door = nil
        }
    }

    /// Reads the certificate again. One that can't be used leaves the one before in place.
    private func renew(_ certificate: TLSServerOptions) {
        EventLoop.post { [mail, holder] in
            do throws(TransportError) {
                try holder.door?.renew(certificate)
                mail.put(.notice("the certificate of --http-certificate was read again"))
            } catch {
                mail.put(.notice("\(error.message); --http keeps its previous certificate"))
            }
        }
    }

    /// To be called when ``descriptor`` is readable, or a signal has come.
    func serve() throws(Failure) {
        if hangups != Interrupt.hangups {
            hangups = Interrupt.hangups
            if let certificate { renew(certificate) }
        }
        for message in mail.take() {
            switch message {
            case .listening(let port):
                announce("\(certificate == nil ? "http" : "https")://\(Address(address, port: Int64(port)))")
            case .notice(let text): Output.notice(Printable.line(text))
            case .failed(let why): throw Failure(.failed, "--http: \(why)")
            case .post(let post): take(post)
            }
        }
    }

    /// Any program that shares the desktop can change its groups, so each post looks at them.
    private func take(_ post: Post) {
        do throws(Failure) {
            try handle.begin { completion, userData, destroy in
                bw_desktop_invoke_async(
                    handle.pointer, "desktop.groups", nil, DesktopDoor.timeout, completion, userData, destroy)
            } then: { [weak self] result in
                do throws(Failure) {
                    let groups = try result.get()["groups"]?.array ?? []
                    self?.push(post, groups: Set(groups.compactMap { $0["name"]?.string }))
                } catch {
                    post.answer(.failure(error))
                }
            }
        } catch {
            post.answer(.failure(error))
        }
    }

    /// - Parameter groups: a topic with the name of one goes to that.
    private func push(_ post: Post, groups: Set<String>) {
        var params = post.publication.parameters(groups: groups)
        params["answerWhen"] = "stored"
        let text = JSONValue.object(params).serialized()
        do throws(Failure) {
            try handle.begin { completion, userData, destroy in
                bw_desktop_notify_async(handle.pointer, text, DesktopDoor.timeout, completion, userData, destroy)
            } then: { [weak self] result in
                if case .failure(let failure) = result, failure.isTooManyScheduled {
                    self?.tellOfLimit(post.publication)
                }
                post.answer(result.map { $0["notificationId"]?.string ?? "" })
            }
        } catch {
            post.answer(.failure(error))
        }
    }
}

extension DesktopDoor {
    /// Once in ten minutes, whatever the number of requests and tokens.
    private func tellOfLimit(_ publication: Publication) {
        let now = WallClock.milliseconds
        guard toldOfLimit.map({ abs(now &- $0) >= 600_000 }) ?? true else { return }
        toldOfLimit = now
        let publisher =
            publication.publisher.isEmpty ? "programs without a token have" : "\"\(publication.publisher)\" has"
        let text = "\(publisher) reached the limit of scheduled notifications; see bellwire push --scheduled"
        Output.notice(Printable.line(text))
    }
}

extension Failure {
    /// MethodHandler's reason.
    fileprivate var isTooManyScheduled: Bool { error?["detail"]?["reason"] == "too_many_scheduled" }
}

extension DesktopDoor.Post {
    fileprivate func answer(_ result: Result<String, Failure>) {
        let answer = result.mapError { DoorError($0) }
        EventLoop.post { [completion] in completion(answer) }
    }
}

extension DoorError {
    fileprivate init(_ failure: Failure) {
        switch failure.exit {
        case _ where failure.isTooManyScheduled: self = .tooManyDelayed
        case .usage: self.init(40000, "invalid request: \(failure.message)")
        case .notPaired: self.init(40402, failure.message)
        default: self = .internalError
        }
    }
}

/// The clock on the wall.
enum WallClock {
    static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000 &+ Int64(time.tv_nsec) / 1_000_000
    }
}
