import Foundation
import Hosting
import JSON
import Notifications
import Signalling
import Testing
import Transport

@testable import Desktop
@testable import Device

/// Connections that end while calls wait: what was on its way is lost, and no call hangs or is carried out twice.
@Suite(.timeLimit(.minutes(2)))
struct RepeatedCallsTests {
    /// Cuts the connections of a device without a word.
    @EventLoop
    private func cut(_ device: Device) { for link in device.core.links.values { link.reconnectNow() } }

    @EventLoop
    private func cut(_ desktop: Desktop) { for link in desktop.core.links.values { link.reconnectNow() } }

    @Test("calls in small bursts over connections that are cut all come to their answers, and are carried out once")
    func cutWhileCallsWait() async throws {
        let bench = try await SealedBench()
        let count = 600
        let results = await withTaskGroup(of: Result<JSONValue, any Error>.self) { group in
            for number in 0..<count {
                group.addTask {
                    do {
                        let sent = try await bench.invoke(
                            "notification.send", ["title": .string("\(number)"), "body": ""], timeout: 60_000)
                        return .success(try sent.get())
                    } catch { return .failure(error) }
                }
                if number % 40 == 39 {
                    if number % 80 == 39 { await cut(bench.device) } else { await cut(bench.desktop) }
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let failed = results.filter { (try? $0.get())?["success"] != true }
        #expect(failed.isEmpty, "\(failed.count) failed: \(failed.prefix(3))")
        let ids = Set(results.compactMap { (try? $0.get())?["notificationId"]?.string })
        #expect(ids.count == count)
        #expect(try await bench.history()["total"] == .integer(Int64(count)))
        #expect(try await bench.deviceState["counters"]?["repeatedCommands"]?.integer ?? 0 > 0)
        await bench.end()
    }

    @Test("a call that waits while the desktop loses its connection is answered when it is back")
    func desktopReconnects() async throws {
        let bench = try await SealedBench()
        // The call goes out while the desktop is there, and its connection takes the request with it.
        async let sent = bench.invoke("notification.sendToMobile", ["title": "Tea", "body": ""], timeout: 30_000)
        async let other = bench.invoke("notification.getUnreadCount", timeout: 30_000)
        _ = try await bench.deviceState
        await cut(bench.desktop)
        #expect(try await sent.get()["success"] == true)
        #expect(try await other.get()["count"] != nil)
        #expect(try await bench.history()["total"] == 1)
        await bench.end()
    }

    @Test("a call to a deployed desktop ends when its connection does, and says that it may have been carried out")
    func deployed() async throws {
        let bench = try await Bench()
        let (desktop, _) = try await bench.pairedDesktop()
        async let waiting = bench.invoke("notification.markAllAsRead")
        _ = try await desktop.payload("chainlesschain:command:request")
        await cut(bench.device)
        let error = try await waiting.error
        #expect(error?.code == .offline && error?.message.contains("may have been carried out") == true)
        await bench.device.close()
        await bench.relay.stop()
    }
}
