import TestSupport
import Testing
import Transport

@testable import SystemServices

/// A banner server of ours on a bus of the test's, with its events.
@EventLoop
struct Showing {
    static let interface = "org.freedesktop.Notifications"
    static let path = "/org/freedesktop/Notifications"
    static let gtk = "org.gtk.Notifications"

    let bus: Bus
    let server: BannerServer
    let events = Mailbox<BannerServer.Event>()

    init(
        _ address: BusAddress, name: String = "Bellwire", id: String? = nil, library: SystemdLibrary = .shared,
        adopting handles: [(BannerServer.Handle, String?)] = []
    ) {
        bus = Bus(address, library: library)
        let events = events
        server = BannerServer(on: bus, BannerServer.Identity(name: name, applicationID: id)) { events.put($0) }
        for (handle, replyID) in handles { server.adopt(handle, replyID: replyID) }
        server.start()
        bus.open()
    }

    /// Waits until banners can be shown.
    @discardableResult
    func ready(within limit: UInt64 = 10_000) async throws -> String {
        guard
            case .ready(let name, _) = try await events.next(
                within: limit, where: { if case .ready = $0 { true } else { false } })
        else { throw BusError(.malformed, "not ready") }
        return name
    }

    func gone() async throws -> BusError {
        guard
            case .gone(let error) = try await events.next(
                within: 20_000, where: { if case .gone = $0 { true } else { false } })
        else { throw BusError(.malformed, "not gone") }
        return error
    }

    func show(
        _ banner: Banner, replacing old: BannerServer.Handle? = nil
    ) async -> Result<BannerServer.Handle, BusError> {
        await withCheckedContinuation { done in
            server.show(banner, replacing: old) { done.resume(returning: $0) }
        }
    }

    func close() {
        server.stop()
        bus.close()
    }
}

extension Services {
    static func notifications(on bus: PrivateBus, capabilities: String? = nil) async throws -> Services {
        let services = try await Services(on: bus)
        if let capabilities { try await services.set(#""capabilities":\#(capabilities)"#) }
        try await services.own(Showing.interface)
        return services
    }

    /// What the server says of a banner.
    func banner(_ member: String, _ signature: String, _ args: String) async throws {
        try await signal(Showing.path, Showing.interface, member, #""signature":"\#(signature)","args":\#(args)"#)
    }
}
