import CBellwire
import CLinux
import Glibc
import Hosting

/// The process's log: the last 256 lines, until the next dispatch of any handle hands them over.
enum LogRing {
    static let capacity = 256

    private struct Registration: @unchecked Sendable {
        let level: LogLevel
        let callback: bw_log_callback
        let userData: UserData
    }

    private struct State {
        /// Until the program sets a level, lines from `info` up are kept.
        var level = LogLevel.info
        var registration: Registration?
        var lines: [(LogLevel, String)] = []
        var lost = 0
        /// The thread that is handing lines over, and the stack of its dispatch.
        var runner: (dispatcher: Dispatcher, frame: UInt)?
        /// Registrations that were replaced inside their own callback: released when it has returned.
        var retired: [Registration] = []
    }

    private static let state = Monitor(State())

    /// Keeps a line. `true` = someone is waiting for it.
    static func add(_ level: LogLevel, _ line: String) -> Bool {
        state.withLock { state in
            guard level >= state.level else { return false }
            if state.lines.count == capacity {
                state.lines.removeFirst()
                state.lost += 1
            }
            state.lines.append((level, line))
            return state.registration != nil
        }
    }

    static func set(_ level: LogLevel, _ callback: bw_log_callback?, _ userData: UserData) {
        recover(at: linux_stack())
        let me = pthread_self()
        let old = state.wait(checking: { recover(at: 0) }) { state -> UserData?? in
            // The old callback may be running elsewhere; inside itself it lives until it returns.
            if let runner = state.runner, runner.dispatcher.thread != me { return nil }
            let old = state.registration
            state.level = level
            state.registration = callback.map { Registration(level: level, callback: $0, userData: userData) }
            guard state.runner == nil else {
                if let old { state.retired.append(old) }
                return .some(nil)
            }
            return .some(old?.userData)
        }
        old?.release()
        if callback == nil { userData.release() }
    }

    /// Delivers the waiting lines on the calling thread, from a dispatch with that stack. `true` = more wait: they arrived
    /// in the meantime, or are for the callback that replaced this one.
    static func drain(at frame: UInt) -> Bool {
        recover(at: frame)
        let work = state.withLock { state -> (Registration, [(LogLevel, String)])? in
            guard let registration = state.registration, state.runner == nil, !state.lines.isEmpty else { return nil }
            state.runner = (Dispatcher(), frame)
            var lines = state.lines
            if state.lost > 0 {
                lines.insert((.warning, "\(state.lost) log lines were lost because no handle dispatched"), at: 0)
            }
            state.lost = 0
            state.lines = []
            return (registration, lines)
        }
        guard let (registration, lines) = work else { return false }
        var left = lines[...]
        while let (level, line) = left.first,
            state.withLock({ $0.registration?.userData === registration.userData })
        {
            left.removeFirst()
            registration.callback(registration.userData.pointer, level.rawValue, line)
        }
        let (retired, hasMore) = state.update { state in
            state.runner = nil
            // It replaced itself during a call: the rest is for the next callback.
            let rest = left.filter { $0.0 >= state.level } + state.lines
            state.lost += max(0, rest.count - capacity)
            state.lines = rest.suffix(capacity)
            defer { state.retired = [] }
            return (state.retired, state.registration != nil && !state.lines.isEmpty)
        }
        for registration in retired { registration.userData.release() }
        return hasMore
    }

    /// Ends a handing over whose callback never returns; see ``HostQueue/recover(at:)``.
    private static func recover(at frame: UInt) {
        let retired = state.update { state -> [Registration] in
            guard let runner = state.runner, runner.dispatcher.hasLeft(runner.frame, at: frame) else { return [] }
            state.runner = nil
            defer { state.retired = [] }
            return state.retired
        }
        for registration in retired { registration.userData.release() }
    }
}
