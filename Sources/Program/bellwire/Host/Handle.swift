import CBellwire
import Glibc
import JSON

/// One open handle of the library's, whatever its role: its events, and the loop that waits for them.
final class Handle {
    /// The functions that every role has.
    struct Role: Sendable {
        let open: @Sendable (UnsafePointer<CChar>?, UnsafeMutablePointer<OpaquePointer?>?) -> bw_status
        let start: @Sendable (OpaquePointer?) -> bw_status
        let close: @Sendable (OpaquePointer?) -> bw_status
        let descriptor: @Sendable (OpaquePointer?) -> Int32
        let dispatch: @Sendable (OpaquePointer?) -> bw_status
        let subscribe:
            @Sendable (
                OpaquePointer?, UnsafePointer<CChar>?, bw_event_callback?, UnsafeMutableRawPointer?, bw_destroy?,
                UnsafeMutablePointer<bw_subscription>?
            ) -> bw_status
        let unsubscribe: @Sendable (OpaquePointer?, bw_subscription) -> bw_status

        static let device = Role(
            open: { bw_device_open($0, $1) }, start: { bw_device_start($0) }, close: { bw_device_close($0) },
            descriptor: { bw_device_fd($0) }, dispatch: { bw_device_dispatch($0) },
            subscribe: { bw_device_subscribe($0, $1, $2, $3, $4, $5) }, unsubscribe: { bw_device_unsubscribe($0, $1) })
        static let desktop = Role(
            open: { bw_desktop_open($0, $1) }, start: { bw_desktop_start($0) }, close: { bw_desktop_close($0) },
            descriptor: { bw_desktop_fd($0) }, dispatch: { bw_desktop_dispatch($0) },
            subscribe: { bw_desktop_subscribe($0, $1, $2, $3, $4, $5) },
            unsubscribe: { bw_desktop_unsubscribe($0, $1) })
    }

    /// Why a wait ended.
    enum Wake: Equatable {
        case done
        case deadline
        case signal(Int32)
    }

    /// A deadline that callbacks may move, in ``Clock`` time; `nil` = none at the moment.
    struct MovingDeadline {
        let current: () -> Int64?
    }

    let pointer: OpaquePointer?
    private let role: Role

    init(_ role: Role, options: JSONValue, verbose: Bool) throws(Failure) {
        if verbose { try LogLines.show() }
        var pointer: OpaquePointer?
        try check(role.open(options.serialized(), &pointer))
        self.role = role
        self.pointer = pointer
    }

    deinit { _ = role.close(pointer) }

    func start() throws(Failure) { try check(role.start(pointer)) }

    /// Closes the handle before its owner is released; later calls on it fail.
    func close() throws(Failure) { try check(role.close(pointer)) }

    @discardableResult
    func subscribe(
        _ event: String, _ body: @escaping (_ event: String, _ json: JSONValue) -> Void
    ) throws(Failure) -> bw_subscription {
        let subscriber = Unmanaged.passRetained(Subscriber(body)).toOpaque()
        var subscription: bw_subscription = 0
        try check(
            role.subscribe(pointer, event, Subscriber.callback, subscriber, Subscriber.destroy, &subscription))
        return subscription
    }

    /// Also inside that subscription's own callback: what has not been handed over yet then stays in the store.
    func unsubscribe(_ subscription: bw_subscription) throws(Failure) {
        try check(role.unsubscribe(pointer, subscription))
    }

    /// Makes this program known as one that takes an event of those that are stored, without taking any. Only for devices.
    ///
    /// The subscription is there when the dispatch begins, and has ended when the stored events' turn comes.
    func join(_ event: String) throws(Failure) {
        let topic = "host.join"
        var subscription: bw_subscription?
        try subscribe(topic) { [unowned self] _, _ in
            if let subscription { _ = role.unsubscribe(pointer, subscription) }
        }
        try check(bw_device_post(pointer, topic, nil))
        subscription = try subscribe(event) { _, _ in }
        _ = try wait(until: Clock.now)
    }

    /// Dispatches events, and reads lines if there is an input, until `isDone`, the deadline (see ``Clock``; `nil` =
    /// none) or a signal.
    ///
    /// - Parameters:
    ///   - moment: a second deadline, asked for again after each event.
    ///   - alsoFor: descriptors that also wake it.
    ///   - waitingFor: shown to the user at a terminal if it takes long; `nil` = nothing.
    func wait(
        until deadline: Int64? = nil, orAt moment: MovingDeadline? = nil, input: LineInput? = nil,
        alsoFor others: [Int32] = [],
        waitingFor: Progress? = nil, isDone: () throws(Failure) -> Bool = { false }
    ) throws(Failure) -> Wake {
        var progress = waitingFor
        let descriptor = try check(role.descriptor(pointer))
        var hangups = Interrupt.hangups
        while true {
            try check(role.dispatch(pointer))
            if try isDone() { return .done }
            if let signal = Interrupt.take() { return .signal(signal) }
            if hangups != Interrupt.hangups {
                hangups = Interrupt.hangups
                continue
            }
            let left = [deadline, moment?.current()].compactMap(\.self).min().map { max(0, $0 &- Clock.now) }
            if left == 0 { return .deadline }
            let next = [progress?.step().map { max(0, $0 &- Clock.now) }, left].compactMap(\.self).min()
            var entries = [descriptor, Interrupt.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            if let input, input.isOpen, input.isWanted {
                entries.append(pollfd(fd: input.descriptor, events: Int16(POLLIN), revents: 0))
            } else {
                // Ignored by poll: the input keeps its place.
                entries.append(pollfd(fd: -1, events: 0, revents: 0))
            }
            entries += others.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let count = poll(&entries, nfds_t(entries.count), next.map { Int32(clamping: $0) } ?? -1)
            if count < 0, errno != EINTR {
                throw Failure(.failed, "poll failed: \(String(cString: strerror(errno)))")
            }
            if count > 0, entries[2].revents != 0 { try input?.read() }
        }
    }

    /// Starts an `_async` call; `then` is called in a later wait, once.
    func begin(
        _ call: (bw_completion, UnsafeMutableRawPointer, bw_destroy) -> bw_status,
        then: @escaping (Result<JSONValue, Failure>) -> Void
    ) throws(Failure) {
        let completion = Unmanaged.passRetained(Completion(then)).toOpaque()
        try check(call(Completion.callback, completion, Completion.destroy))
    }

    /// Starts an `_async` call and waits for its completion. The call's own timeout bounds the wait.
    func completion(
        waitingFor: String? = nil,
        of call: (bw_completion, UnsafeMutableRawPointer, bw_destroy) -> bw_status
    ) throws(Failure) -> JSONValue {
        var result: Result<JSONValue, Failure>?
        try begin(call) { result = $0 }
        let progress = waitingFor.flatMap { text in Progress { text } }
        if case .signal(let signal) = try wait(waitingFor: progress, isDone: { () throws(Failure) in result != nil }) {
            throw .interrupted(signal)
        }
        return try result?.get() ?? .null
    }
}

/// The object behind a subscription's `user_data`.
private final class Subscriber {
    let body: (String, JSONValue) -> Void

    init(_ body: @escaping (String, JSONValue) -> Void) { self.body = body }

    static let callback: bw_event_callback = { userData, event, json in
        guard let userData, let event, let json, let value = try? JSONValue(parsing: String(cString: json)) else {
            return
        }
        Unmanaged<Subscriber>.fromOpaque(userData).takeUnretainedValue().body(String(cString: event), value)
    }

    static let destroy: bw_destroy = { userData in
        if let userData { Unmanaged<Subscriber>.fromOpaque(userData).release() }
    }
}

/// The object behind a completion's `user_data`.
private final class Completion {
    let body: (Result<JSONValue, Failure>) -> Void

    init(_ body: @escaping (Result<JSONValue, Failure>) -> Void) { self.body = body }

    static let callback: bw_completion = { userData, status, json in
        guard let userData else { return }
        let text = json.map { String(cString: $0) }
        let result: Result<JSONValue, Failure> =
            status < 0
            ? .failure(Failure(status, json: text))
            : .success(text.flatMap { text in try? JSONValue(parsing: text) } ?? .null)
        Unmanaged<Completion>.fromOpaque(userData).takeUnretainedValue().body(result)
    }

    static let destroy: bw_destroy = { userData in
        if let userData { Unmanaged<Completion>.fromOpaque(userData).release() }
    }
}

/// The library's log on standard error.
private enum LogLines {
    static func show() throws(Failure) {
        let callback: bw_log_callback = { _, level, message in
            guard let message else { return }
            let names = ["debug", "info", "warning", "error"]
            let name = names.indices.contains(Int(level)) ? names[Int(level)] : "log"
            Output.notice("\(name): \(String(cString: message))")
        }
        try check(bw_set_log(Int32(BW_LOG_DEBUG.rawValue), callback, nil, nil))
    }
}
