import Hosting
import JSON
import Signalling
import Transport
import Wire

/// Keeps the device known at the deployed desktops that are connected: sends heartbeats, and reads after they may have
/// started again (WireDeployedRequests, "Heartbeats").
@EventLoop
final class Heartbeats {
    private(set) var schedule = HeartbeatSchedule()
    private(set) var reads = ReadSchedule()
    private let connected: @EventLoop () -> [PeerID]
    private let send: @EventLoop (JSONValue, PeerID) -> Void
    private let read: @EventLoop (PeerID) -> Void
    private lazy var timer = LoopTimer { [weak self] in self?.tick() }

    /// - Parameters:
    ///   - connected: the deployed desktops that are connected now.
    ///   - send: sends a payload over a desktop's best route.
    ///   - read: sends a desktop a command that only reads, then ``sent(to:)``.
    init(
        connected: @escaping @EventLoop () -> [PeerID], send: @escaping @EventLoop (JSONValue, PeerID) -> Void,
        read: @escaping @EventLoop (PeerID) -> Void
    ) {
        (self.connected, self.send, self.read) = (connected, send, read)
    }

    /// A desktop may have connected or gone.
    ///
    /// - Parameter cameBack: a relay has reported this one online.
    func check(cameBack: PeerID? = nil) {
        let (desktops, now) = (connected(), EventLoop.now)
        schedule.changed(isWanted: !desktops.isEmpty, now: now)
        reads.changed(desktops, now: now)
        if let cameBack { reads.cameBack(cameBack, now: now) }
        arm()
    }

    /// A command was sent to the desktop.
    func sent(to desktop: PeerID) { reads.sent(to: desktop, now: EventLoop.now) }

    func stop() { timer.stop() }

    /// - Parameter now: another moment only in tests.
    func tick(now: UInt64 = EventLoop.now) {
        let desktops = connected()
        if schedule.tick(isWanted: !desktops.isEmpty, now: now) {
            let heartbeat = Heartbeat.payload(at: .now)
            for desktop in desktops { send(heartbeat, desktop) }
        }
        reads.changed(desktops, now: now)
        for desktop in reads.tick(now: now) { read(desktop) }
        arm()
    }

    private func arm() { timer.start(at: [schedule.nextDeadline, reads.nextDeadline].compactMap { $0 }.min()) }
}
