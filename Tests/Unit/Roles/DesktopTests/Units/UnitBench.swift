import Commands
import Delivery
import Foundation
import History
import Hosting
import JSON
import Notifications
import Pairing
import Peering
import Sealing
import Signalling
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop

/// Command server and outbox sender over a store in memory: neither relay nor connection.
@EventLoop
final class UnitBench {
    enum Sending: Sendable {
        case taken, refused, tooLarge
    }

    let database: Database
    let devices: DeviceBook
    /// What was written, with its number.
    private(set) var sent: [(device: PeerID, seq: Int64?, type: String?)] = []
    var sending = Sending.taken
    let delivered = Mailbox<(ticket: PushTicket, peers: Set<PeerID>)>()
    let answers = Mailbox<(origin: CommandOrigin, outcome: CommandResponse.Outcome)>()
    let problems = Mailbox<String>()
    private(set) var replayed = 0
    var isOnline = true
    private lazy var host = HostReports(
        HostChannel(
            post: { [problems] event in
                guard event.name == .problem, let message = event.data["message"]?.string else { return }
                EventLoop.assumeIsolated { problems.put(message) }
            }, waits: { _ in }, ask: { $0.answer(nil) }, log: { _, _ in }), unread: 0)
    private(set) lazy var sender = OutboxSender(
        database: database, devices: devices, epoch: 1, host,
        send: { [unowned self] payload, device in take(payload, device) },
        delivered: { [unowned self] ticket, peers in
            delivered.put((ticket, peers))
            server.delivered(ticket, to: peers)
        })
    private(set) lazy var server = CommandServer(
        database: database, devices: devices, limiter: RateLimiter(perSecond: 1_000, burst: 1_000), host
    ) { [unowned self] output in told(output) }

    init(_ devices: [PairedDevice] = []) throws {
        database = try Database.open(
            path: ":memory:", migrations: SealStates.migrations + DesktopSwitchboard.migrations
        ).database
        self.devices = DeviceBook(devices, outboxes: [:], reminders: UnpairReminders([]))
        try database.run { (connection) throws(StoreError) in
            for device in devices { _ = try PairedDevices(connection).upsert(device) }
        }
    }

    nonisolated static func device(_ number: Int, isSecure: Bool = true) -> PairedDevice {
        PairedDevice(
            did: PeerID("did:key:zDevice\(number)"), deviceID: "device-\(number)", name: "Device", platform: "linux",
            pairedAt: 1, lastSeenAt: 1, isSecure: isSecure)
    }

    private func take(_ payload: JSONValue, _ device: PairedDevice) -> Sent {
        switch sending {
        case .refused: return .offline
        case .tooLarge: return .tooLarge
        case .taken: break
        }
        let inner = payload["payload"]
        let seq = inner?["pushSeq"]?.integer ?? inner?["through"]?.integer
        sent.append((device.did, seq, payload["type"]?.string))
        return .written
    }

    func takeSent() -> [Int64] {
        defer { sent = [] }
        return sent.compactMap(\.seq)
    }

    private func told(_ output: CommandServer.Output) {
        switch output {
        case .answer(let outcome, let origin): answers.put((origin, outcome))
        case .refuse(let error, let request, _): answers.put((.device(request), .error(error)))
        case .push(let event, let seqs, let ticket):
            sender.push(event, numbered: seqs, ticket, isOnline: isOnline)
        case .withdrawn: sender.withdrawn()
        case .replayed: replayed += 1
        case .announce, .unread, .scheduled: break
        }
    }

    // MARK: Doing

    private var lastCall: OwnCallID = 0

    /// A call of the host's; gives its id.
    ///
    /// - Parameter request: of a program that repeats it, should the holder end.
    @discardableResult
    func call(_ method: NotificationMethod, _ params: JSONObject = [:], request: String? = nil) -> OwnCallID {
        lastCall += 1
        let call = OwnCall(id: lastCall, method: method, params: params, request: request.map { RequestID($0) })
        server.execute(call, roster: devices.roster, at: .now)
        return lastCall
    }

    /// The outcome of a call of the host's.
    func answer(_ id: OwnCallID, _ location: SourceLocation = #_sourceLocation) async throws -> JSONValue {
        let answer = try await answers.take("an answer", location) { answer in
            if case .host(id) = answer.origin { true } else { false }
        }
        guard case .result(let result) = answer.outcome else { return .null }
        return result
    }

    func request(
        _ id: String, _ method: String, _ params: JSONObject = [:], from device: PairedDevice, mark: SealMark? = nil,
        expiresAt: EpochMilliseconds? = nil, naming: SenderNaming = .byRelay, at now: EpochMilliseconds = .now
    ) {
        guard let session = devices.session(device.did) else { return }
        let request = CommandRequest(id: RequestID(id), method: method, params: params, expiresAt: expiresAt)
        server.received(
            request, from: device, session, over: "ws://relay.test", naming: naming, mark: mark, roster: devices.roster,
            at: now)
    }

    /// The outcome of a device's request.
    func answer(
        _ id: String, _ location: SourceLocation = #_sourceLocation
    ) async throws -> CommandResponse.Outcome {
        try await answers.take("an answer", location) { answer in
            if case .device(let request) = answer.origin { request.id == RequestID(id) } else { false }
        }.outcome
    }

    func connect() { for device in devices.ids { sender.connected(device) } }

    /// - Parameters:
    ///   - epoch: as the device names it.
    ///   - inSession: it comes in version 2 of the seal.
    func acknowledge(
        _ seq: Int64, in epoch: Int64? = nil, by device: PairedDevice, isHello: Bool = false, mark: Int64 = 1,
        inSession: Bool = false
    ) {
        sender.acknowledged(
            through: seq, in: epoch, isHello: isHello, by: device.did,
            SealMark(peer: device.did, epoch: inSession ? -1 : 1, seq: mark))
    }

    /// As it is stored.
    func position(of device: PairedDevice) throws -> Outbox.Position? {
        let did = device.did
        return try database.run { (connection) throws(StoreError) in try Outbox(connection).positions()[did] }
    }

    /// Everything that was submitted to the store has come back.
    func settle() async {
        for _ in 0..<2 {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                database.submit { _ in
                } then: { _ in
                    EventLoop.post { continuation.resume() }
                }
            }
        }
    }

    func close() { database.close() }
}

/// Holds the store's thread.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    init(_ database: Database) {
        database.submit { [semaphore] _ in
            semaphore.wait()
        } then: { _ in
        }
    }

    func open() { semaphore.signal() }
}
