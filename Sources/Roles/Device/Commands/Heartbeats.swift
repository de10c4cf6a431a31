import Hosting
import JSON
import Signalling
import Transport
import Wire

/// Sends heartbeats to the deployed desktops that are connected, which else forget the device (WireDeployedRequests,
/// "Heartbeats").
@EventLoop
final class Heartbeats {
    private(set) var schedule = HeartbeatSchedule()
    private let connected: @EventLoop () -> [PeerID]
    private let send: @EventLoop (JSONValue, PeerID) -> Void
    private lazy var timer = LoopTimer { [weak self] in self?.tick() }

    /// - Parameters:
    ///   - connected: the deployed desktops that are connected now.
    ///   - send: sends a payload over a desktop's best route.
    init(connected: @escaping @EventLoop () -> [PeerID], send: @escaping @EventLoop (JSONValue, PeerID) -> Void) {
        (self.connected, self.send) = (connected, send)
    }

    /// A desktop may have connected or gone.
    func check() {
        schedule.changed(isWanted: !connected().isEmpty, now: EventLoop.now)
        timer.start(at: schedule.nextDeadline)
    }

    func stop() { timer.stop() }

    /// - Parameter now: another moment only in tests.
    func tick(now: UInt64 = EventLoop.now) {
        let desktops = connected()
        if schedule.tick(isWanted: !desktops.isEmpty, now: now) {
            let heartbeat = Heartbeat.payload(at: .now)
            for desktop in desktops { send(heartbeat, desktop) }
        }
        timer.start(at: schedule.nextDeadline)
    }
}
