import Calendar
import Glibc
@testable import History
import JSON
@testable import Notifications
import Store
import Testing
import Wire

/// A desktop's store with two paired devices, as its handler sees them.
struct DesktopFixture {
    static let device = MethodHandler.Caller.device("did:key:a", isBellwire: true)
    static let phone = MethodHandler.Caller.device("did:key:a", isBellwire: false)

    let database: Database
    let devices: [MethodHandler.PairedDevice] = [
        .init(peer: "did:key:a", deviceID: "phone-a"), .init(peer: "did:key:b"),
    ]

    init(path: String = ":memory:") throws {
        database = try Database.open(path: path, migrations: History.migrations).database
    }

    /// - Parameter minute: what the clock on the wall says, in minutes since midnight.
    func handle(
        _ method: NotificationMethod, _ params: JSONObject = [:], from caller: MethodHandler.Caller = device,
        id: NotificationID = "n1", now: EpochMilliseconds = 100, minute: Int = 720
    ) throws -> Handled {
        let context = MethodHandler.Context(
            now: now, newID: id, devices: devices, clock: WallClock { _ in minute })
        return try database.run { connection throws(StoreError) in
            try MethodHandler(caller: caller, context: context, on: connection).handle(method.name, params)
        }
    }

    func result(
        _ method: NotificationMethod, _ params: JSONObject = [:], from caller: MethodHandler.Caller = device,
        now: EpochMilliseconds = 100
    ) throws -> JSONObject {
        let handled = try handle(method, params, from: caller, now: now)
        guard case .ready(.result(.object(let result))) = handled.reply else {
            Issue.record("no result: \(handled.reply)")
            return [:]
        }
        return result
    }

    func refusal(
        _ method: NotificationMethod, _ params: JSONObject = [:], from caller: MethodHandler.Caller = device
    ) throws -> RemoteError? {
        let handled = try handle(method, params, from: caller)
        guard case .ready(.error(let error)) = handled.reply, handled.effects.isEmpty, handled.announcements.isEmpty
        else { return nil }
        return error
    }

    /// `n0`, `n1`, … created at 0, 1, …
    func fill(_ count: Int) throws {
        for number in 0..<count {
            _ = try handle(
                .send, ["title": .string("T\(number)")], id: NotificationID("n\(number)"), now: Int64(number))
        }
    }

    var counts: (total: Int64, unread: Int64) {
        get throws { try database.run { connection throws(StoreError) in try History(connection).counts() } }
    }
}

func temporaryPath(_ name: String) -> String {
    "/tmp/bellwire-\(name)-\(getpid())-\(UInt64.random(in: 0 ... .max)).db"
}

func removeDatabase(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
}
