import CUV
import Glibc

/// A timer of the kernel's, which becomes readable when its time has come. Closed until ``open(_:)``.
final class TimerDescriptor: @unchecked Sendable {
    private let make: () -> CInt
    /// The descriptor; -1 = it is closed.
    private(set) var number: CInt = -1
    private var poll: LoopPoll?

    nonisolated init(_ make: @escaping () -> CInt) { self.make = make }

    var isOpen: Bool { number >= 0 }

    /// Stays closed where no descriptor is to be had.
    @EventLoop
    func open(_ fire: @escaping @EventLoop () -> Void) {
        let number = make()
        guard number >= 0 else { return }
        self.number = number
        poll = LoopPoll.readable(number) { if Self.hasFired(number) { fire() } }
        if poll == nil { close() }
    }

    /// Reading ends what made it readable: the moment, or that the clock was set (ECANCELED). There is nothing to read if
    /// it was armed again since.
    private static func hasFired(_ number: CInt) -> Bool {
        var count: UInt64 = 0
        return read(number, &count, MemoryLayout.size(ofValue: count)) > 0 || errno == ECANCELED
    }

    @EventLoop
    func close() {
        poll?.stop()
        poll = nil
        if isOpen { Glibc.close(number) }
        number = -1
    }
}
