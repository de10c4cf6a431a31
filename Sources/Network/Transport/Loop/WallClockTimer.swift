import CUV
import Glibc

/// A timer by the clock on the wall: fires at a moment, also when the machine slept meanwhile.
///
/// It also fires when the machine's clock or time zone was changed: its owner checks the time and restarts it. It has
/// no descriptor before the first start and after ``stop()``. Releasing it stops it.
@EventLoop
package final class WallClockTimer {
    private let fire: @EventLoop () -> Void
    private let descriptors: Descriptors
    /// Where there is no descriptor to be had: looks at the clock from time to time.
    private var substitute: LoopTimer?

    /// How often the substitute looks, in milliseconds.
    private static let glance: Int64 = 60_000

    package convenience init(_ fire: @escaping @EventLoop () -> Void) {
        self.init(zoneDirectory: "/etc", makeTimer: bw_wall_timer, fire)
    }

    /// For tests: where the zone's file is, and what makes a timer.
    init(zoneDirectory: String, makeTimer: @escaping () -> CInt, _ fire: @escaping @EventLoop () -> Void) {
        self.fire = fire
        descriptors = Descriptors(zoneDirectory: zoneDirectory, makeTimer: makeTimer)
    }

    deinit {
        EventLoop.release { [descriptors] in descriptors.close() }
    }

    /// Fires once, at a moment in milliseconds since 1970; one that is past is now. Starting again moves the moment.
    package func start(at moment: Int64) {
        substitute = nil
        if !descriptors.isOpen { descriptors.open { [weak self] in self?.fire() } }
        switch descriptors.arm(at: moment) {
        case 0: return
        case ECANCELED:
            // It is armed, but the clock was set since the owner looked at it.
            EventLoop.later { [weak self] in
                if let self, descriptors.isOpen { fire() }
            }
        default: wait(for: moment)
        }
    }

    /// From here on it does not fire.
    package func stop() {
        substitute = nil
        descriptors.close()
    }

    private func wait(for moment: Int64) {
        let timer = LoopTimer { [weak self] in
            guard let self else { return }
            if Self.remaining(until: moment) > 0 { wait(for: moment) } else { fire() }
        }
        substitute = timer
        timer.start(after: UInt64(min(Self.remaining(until: moment), Self.glance)))
    }

    /// Milliseconds; 0 if the time has passed.
    private static func remaining(until moment: Int64) -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let now = Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
        return moment > now ? max(moment &- now, 1) : 0
    }
}

/// The kernel's timer, and its news of the directory in which the time zone is set.
private final class Descriptors: @unchecked Sendable {
    private let timer: TimerDescriptor
    private let zoneDirectory: String
    private var zone: CInt = -1
    private var zonePoll: LoopPoll?

    nonisolated init(zoneDirectory: String, makeTimer: @escaping () -> CInt) {
        self.zoneDirectory = zoneDirectory
        timer = TimerDescriptor(makeTimer)
    }

    var isOpen: Bool { timer.isOpen }

    /// Without a timer it stays closed; without news of the zone a change of it is seen at the next moment.
    @EventLoop
    func open(_ fire: @escaping @EventLoop () -> Void) {
        timer.open(fire)
        guard isOpen else { return }
        let zone = bw_directory_watch(zoneDirectory)
        guard zone >= 0 else { return }
        zonePoll = LoopPoll.readable(zone) { if bw_directory_changed(zone, "localtime") != 0 { fire() } }
        if zonePoll == nil { Glibc.close(zone) } else { self.zone = zone }
    }

    /// 0 or an `errno` value.
    @EventLoop
    func arm(at moment: Int64) -> CInt {
        guard isOpen else { return EBADF }
        // A moment of 0 would disarm it.
        let moment = max(moment, 1)
        let result = bw_wall_timer_set(timer.number, time_t(moment / 1_000), Int(moment % 1_000) * 1_000_000)
        return result == 0 ? 0 : errno
    }

    @EventLoop
    func close() {
        timer.close()
        zonePoll?.stop()
        zonePoll = nil
        if zone >= 0 { Glibc.close(zone) }
        zone = -1
    }
}
