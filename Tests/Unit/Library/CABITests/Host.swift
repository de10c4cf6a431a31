@testable import CABI
import CBellwire
import Foundation
import Glibc
import Hosting
import JSON
import Synchronization
import Testing

/// What a program does with a queue: registers callbacks and counts what comes, on whatever thread.
final class Host: Sendable {
    struct Counts: Sendable {
        var events: [String] = []
        var texts: [String] = []
        var statuses: [bw_status] = []
        var destroyed = 0
    }

    private let counts = Mutex(Counts())
    private let inCallback: @Sendable (String) -> Void

    /// - Parameter inCallback: called with each event's name, inside its callback.
    init(inCallback: @escaping @Sendable (String) -> Void = { _ in }) { self.inCallback = inCallback }

    var seen: Counts { counts.withLock { $0 } }

    /// One reference for each registration; its `destroy` gives it back.
    func userData() -> UserData {
        UserData(Unmanaged.passRetained(self).toOpaque()) { pointer in
            guard let pointer else { return }
            let host = Unmanaged<Host>.fromOpaque(pointer).takeRetainedValue()
            host.counts.withLock { $0.destroyed += 1 }
        }
    }

    let callback: bw_event_callback = { pointer, event, json in
        guard let pointer, let event, let json else { return }
        let host = Unmanaged<Host>.fromOpaque(pointer).takeUnretainedValue()
        let (name, text) = (String(cString: event), String(cString: json))
        host.counts.withLock {
            $0.events.append(name)
            $0.texts.append(text)
        }
        host.inCallback(name)
    }

    var completion: Completion {
        Completion(
            { pointer, status, _ in
                guard let pointer else { return }
                let host = Unmanaged<Host>.fromOpaque(pointer).takeUnretainedValue()
                host.counts.withLock { $0.statuses.append(status) }
            }, userData())
    }

    @discardableResult func subscribe(_ queue: HostQueue, _ name: HostEvent.Name? = nil) throws -> bw_subscription {
        try queue.subscribe(name, callback, userData())
    }
}

/// A store of pushes in memory, that can fail.
final class Pushes: EventSource {
    let name: HostEvent.Name

    struct Rows: Sendable {
        var waiting: [Int64] = []
        var handed: [Int64] = []
        var failures = 0
        var finishFailures = 0
        var taken = 0
        /// Taken and not marked.
        var open: [Int64] = []
        var redelivered: Set<Int64> = []
    }

    let rows: Mutex<Rows>

    /// Rows that have taken the place of others.
    private let updates: Set<Int64>

    init(
        _ rows: ClosedRange<Int64>, updates: Set<Int64> = [], named name: HostEvent.Name = .notificationReceived
    ) {
        self.name = name
        self.rows = Mutex(Rows(waiting: Array(rows)))
        self.updates = updates
    }

    func take(limit: Int) throws(HostError) -> [WaitingEvent] {
        let taken = rows.withLock { rows -> [Int64]? in
            rows.taken += 1
            guard rows.failures == 0 else {
                rows.failures -= 1
                return nil
            }
            defer { rows.waiting.removeFirst(min(limit, rows.waiting.count)) }
            rows.open += rows.waiting.prefix(limit)
            return Array(rows.waiting.prefix(limit))
        }
        guard let taken else { throw HostError(.store, "the disk is full") }
        return taken.map { row in
            let name = updates.contains(row) ? HostEvent.Name.notificationUpdated : self.name
            let again = rows.withLock { $0.redelivered.contains(row) }
            return WaitingEvent(
                row: row, event: HostEvent(name, data: ["row": .integer(row), "redelivered": again ? true : nil]))
        }
    }

    func finish(handed: [Int64], untouched: [Int64]) throws(HostError) {
        let isDone = rows.withLock { rows in
            guard rows.finishFailures == 0 else {
                rows.finishFailures -= 1
                return false
            }
            rows.open.removeAll { handed.contains($0) || untouched.contains($0) }
            rows.handed += handed
            rows.waiting = untouched + rows.waiting
            return true
        }
        guard isDone else { throw HostError(.store, "the disk is full") }
    }

    func restore(untouched: [Int64]) throws(HostError) {
        rows.withLock { rows in
            rows.redelivered.formUnion(rows.open.filter { !untouched.contains($0) })
            rows.waiting = rows.open + rows.waiting
            rows.open = []
        }
    }
}

/// A role that has nothing to end.
final class Idle: Role {
    let sources: [any EventSource]

    init(_ source: (any EventSource)? = nil) { sources = source.map { [$0] } ?? [] }

    func shutDown(then: @escaping @Sendable () -> Void) { then() }
}

/// Runs `body` on a thread of its own; `join` waits for its end, at most 20 s.
final class Runner: Sendable {
    private let isDone = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [isDone] in
            body()
            isDone.signal()
        }
    }

    func join(_ location: SourceLocation = #_sourceLocation) {
        #expect(isDone.wait(timeout: .now() + 20) == .success, "it ends", sourceLocation: location)
    }
}

extension HostQueue {
    func pushesWait() { waits(.notificationReceived) }

    func dispatch(from source: (any EventSource)?) throws(HostError) { try dispatch(from: source.map { [$0] } ?? []) }

    func run(milliseconds: Int64?, from source: (any EventSource)?) throws(HostError) {
        try run(milliseconds: milliseconds, from: source.map { [$0] } ?? [])
    }

    func startThread(from source: (any EventSource)?) throws(HostError) {
        try startThread(from: source.map { [$0] } ?? [])
    }

    var isReadable: Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) == 1
    }
}
