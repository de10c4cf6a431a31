import COnDemand
import Glibc

/// One connection to a bus, for one thread at a time: takes steps, never waits.
///
/// Who polls its descriptor is left to its owner: the event loop for ``Bus``, a blocking call for ``SecretService``.
final class BusConnection {
    enum Step {
        /// Nothing more to do until the descriptor or the time says so.
        case idle
        /// Something was done, and there may be more.
        case worked
        case came(RawMessage)
    }

    private let bus: OpaquePointer

    /// Begins to connect. `takesDescriptors`: whether messages may bring file descriptors.
    init(
        to address: BusAddress, takesDescriptors: Bool = false, library: SystemdLibrary = .shared
    ) throws(BusError) {
        if let problem = address.problem ?? library.load() { throw problem }
        var bus: OpaquePointer?
        let result = bw_bus_open(&bus, address.text, takesDescriptors)
        guard result >= 0, let bus else { throw BusError(result: result, "cannot reach the bus") }
        self.bus = bus
    }

    deinit { bw_bus_close(bus) }

    var descriptor: CInt { bw_bus_descriptor(bus) }

    /// What to poll for: `POLLIN`, `POLLOUT`.
    func events() throws(BusError) -> CInt {
        let events = bw_bus_events(bus)
        guard events >= 0 else { throw Self.gone(events) }
        return events
    }

    /// Milliseconds until ``step()`` wants to be called even if nothing comes; `nil` = never.
    func timeout() throws(BusError) -> UInt64? {
        var microseconds = UInt64.max
        let result = bw_bus_timeout(bus, &microseconds)
        guard result >= 0 else { throw Self.gone(result) }
        guard result > 0, microseconds != .max else { return nil }
        let now = Self.microseconds
        // Rounded up: a millisecond early would be a turn for nothing.
        return microseconds <= now ? 0 : (microseconds &- now) / 1_000 &+ 1
    }

    /// `CLOCK_MONOTONIC`, which sd-bus counts in.
    static var microseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000 &+ UInt64(clamping: time.tv_nsec) / 1_000
    }

    /// Whether the bus has welcomed us: calls can be sent.
    var isReady: Bool { bw_bus_is_ready(bus) > 0 }

    /// Our own name on the bus, once it is ready.
    var name: String? {
        var name: UnsafePointer<CChar>?
        guard isReady, bw_bus_name(bus, &name) >= 0, let name else { return nil }
        return String(cString: name)
    }

    func step() throws(BusError) -> Step {
        var pointer: OpaquePointer?
        let result = bw_bus_process(bus, &pointer)
        guard result >= 0 else { throw Self.gone(result) }
        guard result > 0 else { return .idle }
        guard let pointer else { return .worked }
        return .came(RawMessage(owning: pointer))
    }

    /// A message that calls the method, with no arguments yet.
    func makeCall(_ call: BusCall) throws(BusError) -> RawMessage {
        var pointer: OpaquePointer?
        let result = bw_message_new_call(
            bus, &pointer, call.destination, call.path, call.interface, call.member)
        guard result >= 0, let pointer else {
            throw BusError(.invalid, BusError(result: result, "cannot call \(call.title)").message)
        }
        let message = RawMessage(owning: pointer)
        if !call.startsService { bw_message_set_auto_start(pointer, false) }
        return message
    }

    /// Sends a call; the reply will carry the cookie that this gives.
    func send(_ call: BusCall) throws(BusError) -> UInt64 {
        let message = try makeCall(call)
        let writer = BusWriter(message)
        for argument in call.arguments { try writer.append(argument) }
        return try send(message)
    }

    func send(_ message: RawMessage) throws(BusError) -> UInt64 {
        var cookie: UInt64 = 0
        let result = bw_bus_send(bus, message.pointer, &cookie)
        guard result >= 0 else { throw BusError(result: result, "the bus does not accept calls") }
        return cookie
    }

    /// Answers a call that came, if whoever called waits for that.
    func answer(_ call: RawMessage, _ answer: BusRequest.Answer) throws(BusError) {
        switch answer {
        case .error(let name, let text): bw_message_refuse_as(call.pointer, name, text)
        case .values(let values):
            guard bw_message_wants_reply(call.pointer) > 0 else { return }
            var pointer: OpaquePointer?
            let result = bw_message_new_reply(call.pointer, &pointer)
            guard result >= 0, let pointer else { throw BusError(result: result, "cannot answer a call") }
            try sendUnanswered(RawMessage(owning: pointer), values)
        }
    }

    /// Sends a signal to whoever listens.
    func emit(_ path: String, _ interface: String, _ member: String, _ values: [BusValue]) throws(BusError) {
        var pointer: OpaquePointer?
        let result = bw_message_new_signal(bus, &pointer, path, interface, member)
        guard result >= 0, let pointer else { throw BusError(result: result, "cannot send \(member)") }
        try sendUnanswered(RawMessage(owning: pointer), values)
    }

    private func sendUnanswered(_ message: RawMessage, _ values: [BusValue]) throws(BusError) {
        let writer = BusWriter(message)
        for value in values { try writer.append(value) }
        let result = bw_bus_send(bus, message.pointer, nil)
        guard result >= 0 else { throw BusError(result: result, "the bus does not accept messages") }
    }

    private static func gone(_ result: CInt) -> BusError {
        BusError(.disconnected, BusError(result: result, "the connection to the bus was lost").message)
    }
}
