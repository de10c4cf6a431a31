import Glibc
import Synchronization

/// Ctrl-C and its like, as something to poll for: the handler writes one byte into a pipe and does nothing else.
///
/// The first signal asks. A second one like it, a Ctrl-C after it, or anything after a Ctrl-C ends the program at once,
/// wherever it is. The SIGHUP that comes with a SIGTERM at the end of a session does not.
enum Interrupt {
    private static let writeEnd = Atomic<Int32>(-1)
    private static let readEnd = Atomic<Int32>(-1)
    /// The signals that are ours, by their bits.
    private static let taken = Atomic<UInt32>(0)

    /// Readable after a signal.
    static var descriptor: Int32 { readEnd.load(ordering: .relaxed) }

    static func install() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Failure(.failed, "cannot create a pipe: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readEnd.store(ends[0], ordering: .relaxed)
        writeEnd.store(ends[1], ordering: .relaxed)
        for signal in signals {
            var before = sigaction()
            sigaction(signal, nil, &before)
            // nohup and background shells start programs with these ignored: so they stay.
            if unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == ignored { continue }
            take(over: signal)
        }
    }

    private static func take(over signal: Int32) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { signal in
            let saved = errno
            var byte = UInt8(truncatingIfNeeded: signal)
            _ = write(Interrupt.writeEnd.load(ordering: .relaxed), &byte, 1)
            Interrupt.endAtOnce(after: signal)
            errno = saved
        }
        // One after the other: of two that come together the second finds what the first has changed.
        for other in Interrupt.signals { sigaddset(&action.sa_mask, other) }
        sigaction(signal, &action, nil)
        taken.bitwiseOr(1 << UInt32(signal), ordering: .relaxed)
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// Whether SIGHUP is news rather than an end.
    private static let isHangupNews = Atomic<Bool>(false)
    /// Whether SIGHUP was ignored at the start, as nohup does it.
    private static let outlivesTerminal = Atomic<Bool>(false)
    /// See ``hangups``.
    private static let hangupCount = Atomic<Int>(0)

    /// SIGHUPs that asked the program to read its files again.
    static var hangups: Int { hangupCount.load(ordering: .relaxed) }

    /// From now on a SIGHUP does not end the program, also where it was ignored: ``hangups`` counts it. Only if the
    /// terminal was closed is it still an end.
    static func reportHangups() {
        Terminal.note()
        isHangupNews.store(true, ordering: .relaxed)
        var before = sigaction()
        sigaction(SIGHUP, nil, &before)
        guard unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == ignored else { return }
        outlivesTerminal.store(true, ordering: .relaxed)
        take(over: SIGHUP)
    }

    /// In the handler: no allocation, no lock.
    private static func endAtOnce(after signal: Int32) {
        let isNews = isHangupNews.load(ordering: .relaxed)
        let taken = taken.load(ordering: .relaxed)
        var plain = sigaction()
        func end(by other: Int32) {
            if taken & (1 << UInt32(other)) != 0, other == SIGINT || signal == SIGINT || other == signal {
                sigaction(other, &plain, nil)
            }
        }
        end(by: SIGINT)
        end(by: SIGTERM)
        if !isNews { end(by: SIGHUP) }
    }

    /// `SIG_IGN`, which is a cast in C and does not come over.
    private static let ignored = 1

    /// The signal that came, once, if it asks the program to end.
    static func take() -> Int32? {
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1 {
            let signal = Int32(byte)
            guard signal == SIGHUP, isHangupNews.load(ordering: .relaxed),
                outlivesTerminal.load(ordering: .relaxed) || !Terminal.isGone
            else { return signal }
            hangupCount.add(1, ordering: .relaxed)
            // The program is not stuck: a signal after this one asks again.
            for other in signals where taken.load(ordering: .relaxed) & (1 << UInt32(other)) != 0 { take(over: other) }
        }
        return nil
    }
}
