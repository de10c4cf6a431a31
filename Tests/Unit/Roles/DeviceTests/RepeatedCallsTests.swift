@testable import Desktop
@testable import Device
import Foundation
import Hosting
import JSON
import Notifications
import Pairing
import Peering
import Signalling
import TestSupport
import Testing
import Transport

/// Connections that end while calls wait: what was on its way is lost, and no call hangs or is carried out twice.
@Suite(.timeLimit(.minutes(2)))
struct RepeatedCallsTests {
    /// Cuts the connections of a device without a word.
    @EventLoop
    private func cut(_ device: Device) {
        for url in device.core.routes.opened { device.core.routes.link(url)?.reconnectNow() }
    }

    @EventLoop
    private func cut(_ desktop: Desktop) { for link in desktop.core.links { link.reconnectNow() } }

    /// Gives commands without waiting, and cuts a connection right after: their frames are on their way.
    private func burst(
        _ bench: SealedBench, _ numbers: Range<Int>, _ ends: Mailbox<Result<HostReply, HostError>>,
        _ cut: @escaping @Sendable @EventLoop () -> Void
    ) throws {
        for number in numbers {
            let params: JSONObject = ["title": .string("\(number)"), "body": ""]
            let command = try Device.Command(.send, params)
            bench.device.perform(.ask(.invoke(command), of: nil, 60_000)) { end in EventLoop.post { ends.put(end) } }
        }
        EventLoop.post { cut() }
    }

    /// All ends, and the ids of those that succeeded.
    private func collect(_ count: Int, _ ends: Mailbox<Result<HostReply, HostError>>) async throws -> [JSONValue] {
        var results: [JSONValue] = []
        for _ in 0..<count {
            switch try await ends.take("an end", #_sourceLocation, where: { _ in true }) {
            case .success(let reply): results.append(reply.value)
            case .failure(let error): #expect(error.code == .offline, "\(error)")
            }
        }
        return results
    }

    @Test("a device whose connection is cut while calls wait gets all answers, and each is carried out once")
    func deviceIsCut() async throws {
        let bench = try await SealedBench()
        let ends = Mailbox<Result<HostReply, HostError>>()
        let core = bench.device.core
        for round in 0..<10 {
            try burst(bench, round * 50..<round * 50 + 50, ends) { cut(bench.device) }
            // The next ones go out over a connection again.
            try await until("the device is connected") { await core.isConnected }
        }
        let results = try await collect(500, ends)
        #expect(results.count == 500)
        #expect(Set(results.compactMap { $0["notificationId"]?.string }).count == 500)
        #expect(try await bench.history()["total"] == 500)
        #expect(try await bench.deviceState["counters"]?["repeatedCommands"]?.integer ?? 0 > 0)
        await bench.end()
    }

    @Test("when the desktop's connection is cut while calls wait no call hangs, and none is carried out twice")
    func desktopIsCut() async throws {
        let bench = try await SealedBench()
        let ends = Mailbox<Result<HostReply, HostError>>()
        for round in 0..<10 {
            try burst(bench, round * 50..<round * 50 + 50, ends) { cut(bench.desktop) }
            // The next ones go to a desktop that is there again.
            try await until("the desktop is connected") { await bench.desktop.core.isConnected }
        }
        let results = try await collect(500, ends)
        #expect(Set(results.compactMap { $0["notificationId"]?.string }).count == results.count)
        let titles = try await bench.allTitles()
        #expect(Set(titles).count == titles.count && titles.count >= results.count)
        await bench.end()
    }

    @Test("a call that waits while the desktop loses its connection is answered when it is back")
    func desktopReconnects() async throws {
        let bench = try await SealedBench()
        let ends = Mailbox<Result<HostReply, HostError>>()
        let command = try Device.Command("notification.sendToMobile", JSONObject(#"{"title":"Tea","body":""}"#))
        var calls: Int64 = 0
        var answered: Int64 = 0
        var isCut = false
        // Until one is caught between its carrying out and its answer.
        while !isCut, calls < 100 {
            calls += 1
            bench.device.perform(.ask(.invoke(command), of: nil, 30_000)) { end in EventLoop.post { ends.put(end) } }
            isCut = await cutWhileAnswering(bench.desktop, until: { !ends.all.isEmpty })
            guard let result = try await collect(1, ends).first else {
                // The push was acknowledged when the desktop was gone: the relay's word for that stands for the call, too.
                isCut = false
                try await until("the desktop is connected") { await bench.desktop.core.isConnected }
                continue
            }
            answered += 1
            #expect(result["success"] == true)
        }
        #expect(isCut)
        // What ended as offline may have been executed; what was answered was, once.
        let total = try #require(try await bench.history()["total"]?.integer)
        #expect((answered...calls).contains(total))
        await bench.end()
    }

    private func cutWhileAnswering(_ desktop: Desktop, until isOver: @escaping @Sendable @EventLoop () -> Bool) async
        -> Bool
    {
        let deadline = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < deadline {
            switch await cutIfAnswering(desktop, isOver) {
            case .some(let isCut): return isCut
            case .none: continue
            }
        }
        return false
    }

    @EventLoop
    private func cutIfAnswering(_ desktop: Desktop, _ isOver: @Sendable @EventLoop () -> Bool) -> Bool? {
        if isOver() { return false }
        guard desktop.core.commands.openAnswerCount > 0 else { return nil }
        cut(desktop)
        return true
    }

    @Test("a call to a deployed desktop ends when its connection does, and says that it may have been executed")
    func deployed() async throws {
        let bench = try await Bench()
        let (desktop, _) = try await bench.pairedDesktop()
        async let waiting = bench.invoke("notification.markAllAsRead")
        _ = try await desktop.payload("chainlesschain:command:request")
        await cut(bench.device)
        let error = try await waiting.error
        #expect(error?.code == .offline && error?.message.contains("may have been executed") == true)
        await bench.device.close()
        await bench.relay.stop()
    }
}

extension DeviceSwitchboard {
    fileprivate var isConnected: Bool { desktops.peers.first.flatMap { routes.bestLink(to: $0.id) } != nil }
}

extension DesktopSwitchboard {
    fileprivate var links: [any RouteLink] { routes.opened.compactMap(routes.link) }
    fileprivate var isConnected: Bool { links.allSatisfy { $0.state.isOnline } }
}

extension SealedBench {
    /// Of the whole history.
    fileprivate func allTitles() async throws -> [String] {
        var titles: [String] = []
        while true {
            let query = try Desktop.HistoryQuery(JSONObject(#"{"limit":500,"offset":\#(titles.count)}"#))
            let page = try await desktop.value(.history(query))
            let rows = page["notifications"]?.array?.compactMap { $0["title"]?.string } ?? []
            guard !rows.isEmpty else { return titles }
            titles += rows
        }
    }
}
