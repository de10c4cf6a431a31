import Glibc
import Hosting
import JSON
import Store
import Transport

/// The result of taking the state directory or joining its holder, before the loop starts using it.
struct Opened<Kind: SharableRole>: Sendable {
    enum Part: Sendable {
        case holder(Kind, StoredFeed?, EventSpool?, listener: Result<CInt, HostError>, options: JSONObject)
        case guest(CInt, options: JSONObject)
    }

    let part: Part

    /// Opens the role if the directory was taken. Blocks.
    ///
    /// - Parameter options: to open it with.
    init(_ opening: SharedOpening, _ role: SharedRole<Kind>, _ options: JSONObject) throws(HostError) {
        switch opening {
        case .guest(let descriptor, let options): part = .guest(descriptor, options: options)
        case .holder(let directory, let inherited):
            let options = HostedOptions.taken(over: inherited, by: options)
            let spool = role.stored.map { EventSpool($0.move) }
            let kind: Kind
            do throws(HostError) {
                kind = try role.open(options, directory, role.channel.shared(by: role, spool), spool)
            } catch {
                directory.close()
                throw error
            }
            do throws(StoreError) { try Self.register(role, in: kind.database) } catch {
                kind.shutDown {}
                throw HostError(error)
            }
            let feed = role.stored.map { StoredFeed(kind.database, $0) }
            let listener: Result<CInt, HostError>
            do throws(HostError) {
                listener = .success(try SharedSocket(in: directory.path ?? "").listen())
            } catch { listener = .failure(error) }
            part = .holder(kind, feed, spool, listener: listener, options: options)
        }
    }

    private static func register(_ role: SharedRole<Kind>, in database: Database) throws(StoreError) {
        guard let stored = role.stored else { return }
        let application = role.taker.application
        let handed = role.hello.handed
        try database.run { (connection) throws(StoreError) in
            let applications = Applications(connection, stored.tables)
            try applications.register(application, handed: handed, now: .wallClock)
            try applications.prune(running: [application], now: .wallClock)
        }
    }

    /// For a handle that was closed meanwhile.
    func discard(then: @escaping @Sendable () -> Void) {
        switch part {
        case .guest(let descriptor, _):
            close(descriptor)
            then()
        case .holder(let kind, _, _, let listener, _):
            if case .success(let descriptor) = listener { close(descriptor) }
            kind.shutDown(then: then)
        }
    }
}

extension HostChannel {
    /// For a holder's role: its events also go to the guests, and its stored events to the feed.
    func shared<Kind>(by role: SharedRole<Kind>, _ spool: EventSpool?) -> HostChannel {
        HostChannel(
            post: { [post, weak role] event in
                post(event)
                EventLoop.post { role?.keeper.broadcast(event) }
            },
            waits: { [stored = role.stored] source in
                // The others are moved first.
                if stored?.local.contains(source) == true { spool?.tell([source]) } else { spool?.flush() }
            }, ask: ask, log: log)
    }
}

extension Int64 {
    /// Milliseconds since 1970.
    static var wallClock: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000 &+ Int64(time.tv_nsec) / 1_000_000
    }
}
