import Glibc

/// A short-lived connection that a thread of the host's waits on, up to one deadline for all of it.
struct BlockingBus {
    private let connection: BusConnection
    /// In microseconds of `CLOCK_MONOTONIC`.
    private let deadline: UInt64

    init(
        to address: BusAddress, within milliseconds: UInt64, library: SystemdLibrary
    ) throws(BusError) {
        deadline = BusConnection.microseconds &+ milliseconds &* 1_000
        connection = try BusConnection(to: address, library: library)
        while !connection.isReady { _ = try next("the bus") }
    }

    /// Calls a method and waits for its answer. `write` adds what is not to be copied, after the call's arguments. The
    /// memory of both messages is wiped when `isSecret`.
    func call(
        _ call: BusCall, isSecret: Bool = false,
        write: (BusWriter) throws(BusError) -> Void = { (_) throws(BusError) in }
    ) throws(BusError) -> RawMessage {
        let message = try connection.makeCall(call)
        if isSecret { message.wipeWhenFreed() }
        let writer = BusWriter(message)
        for argument in call.arguments { try writer.append(argument) }
        try write(writer)
        let cookie = try connection.send(message)
        while true {
            guard let answer = try next(call.title), answer.kind == .reply || answer.kind == .failure,
                answer.replyCookie == cookie
            else { continue }
            if isSecret { answer.wipeWhenFreed() }
            if let error = answer.failure(of: call.title) { throw error }
            // Whoever was called by its unique name answers under it.
            guard !call.destination.hasPrefix(":") || answer.sender == call.destination else { continue }
            return answer
        }
    }

    /// One step, after waiting if there is nothing to do. What comes is given back.
    private func next(_ what: String) throws(BusError) -> RawMessage? {
        let now = BusConnection.microseconds
        guard now < deadline else { throw BusError(.timeout, "\(what) did not answer in time") }
        switch try connection.step() {
        case .worked: return nil
        case .came(let message):
            guard message.kind == .call else { return message }
            // Anybody on the bus may call us; this connection offers nothing.
            message.refuse()
            return nil
        case .idle: break
        }
        // Rounded up, and at most the deadline, which is seconds away.
        var wait = (deadline &- now) / 1_000 &+ 1
        if let timeout = try connection.timeout() { wait = min(wait, timeout) }
        var watched = pollfd(
            fd: connection.descriptor, events: Int16(truncatingIfNeeded: try connection.events()), revents: 0)
        // A signal of the host's ends the wait early, which costs a turn.
        poll(&watched, 1, CInt(clamping: wait))
        return nil
    }
}
