import Alerts
import Hosting
import JSON
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Device

/// A device that was opened with `"alerts":"none"`.
@Suite(.timeLimit(.minutes(1)))
struct UnneededAlertsTests {
    @Test("unpairing removes a desktop's stored alerts, and makes nothing that shows any")
    func unpaired() async throws {
        let bench = try await SealedBench()
        let (device, core) = (bench.device, bench.device.core)
        let desktop = PeerID(try await bench.desktopState["id"]?.string ?? "")
        // As an earlier run with alerts may have left it.
        try await store(core) { (connection) throws(StoreError) in
            let key = AlertKey(desktop: desktop, id: "n-1")
            _ = try AlertTable(connection).add(NewAlert(key, AlertContent(title: "Hello"), dueAt: 1))
        }
        let isMade: @Sendable () async -> Bool = {
            await withCheckedContinuation { continuation in
                EventLoop.post { continuation.resume(returning: core.alerts.made != nil) }
            }
        }
        #expect(await !isMade())
        _ = try await value { (then: @escaping Then) in device.unpairAll(then: then) }
        #expect(await !isMade())
        let left = try await store(core) { (connection) throws(StoreError) in
            try AlertTable(connection).ofDesktops().count
        }
        #expect(left == 0)
        await bench.end()
    }

    private func store<T: Sendable>(
        _ core: DeviceSwitchboard, _ work: @escaping @Sendable (Connection) throws(StoreError) -> T
    ) async throws -> T {
        try await withCheckedContinuation { continuation in
            EventLoop.post { core.context.database.submit(work) { continuation.resume(returning: $0) } }
        }.get()
    }
}
