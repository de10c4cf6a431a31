import Hosting
import Identity
import JSON
import Sharing
import Wire

/// By which id a command goes to its desktop, for programs that share the device: if the holder ends during the call, the
/// next one sends it again. An encrypted desktop carries an id out once, and repeats its answer (WireMessages, "Commands").
struct CommandIdentity: Sendable {
    /// What happened to the command before this holder got it.
    enum Attempt: Sendable {
        /// Nothing.
        case first
        /// It was made while nobody held the device. The holder has just taken over, and may have no connection yet.
        case delayed
        /// An earlier holder may have sent it under this id, and ended before the answer came.
        case repeated
    }

    /// `nil` = a new one.
    let id: RequestID?
    let attempt: Attempt

    static let new = CommandIdentity(id: nil, attempt: .first)

    private init(id: RequestID?, attempt: Attempt) { (self.id, self.attempt) = (id, attempt) }

    /// What follows the command's own arguments.
    init(_ arguments: inout CallArguments) throws(HostError) {
        let text = try arguments.optionalText()
        guard text.map({ (1...64).contains($0.utf8.count) }) ?? true else {
            throw HostError(.invalid, "an id has 1 to 64 bytes")
        }
        id = text.map { RequestID($0) }
        switch arguments.value().bool {
        case _ where id == nil: attempt = .first
        case true?: attempt = .repeated
        case false?: attempt = .delayed
        case nil: attempt = .first
        }
    }

    private static let calls = [DeviceCall.notification.rawValue, DeviceCall.invoke.rawValue]
    /// Desktop, timeout, method and parameters.
    private static let ownArguments = 4
    private static let timeoutPlace = 1
    /// In milliseconds: a day, as for what waits in the queue.
    private static let longestTimeout: UInt64 = 86_400_000

    static func newID() -> RequestID { RequestID(TextEncoding.hex.encode(Identity.randomBytes(16))) }

    static func timeout(of call: HostCall) -> UInt64? {
        guard calls.contains(call.name), call.arguments.count >= ownArguments else { return nil }
        return call.arguments[timeoutPlace].integer.map { min(UInt64(clamping: $0), longestTimeout) }
    }

    static func given(to call: HostCall) -> HostCall {
        guard calls.contains(call.name), call.arguments.count == ownArguments else { return call }
        return HostCall(call.name, call.arguments + [.string(newID().text)])
    }

    /// For a call that waits for a holder. One that an earlier holder may have sent stays ``Attempt/repeated``.
    static func delayed(_ call: HostCall) -> HostCall {
        guard calls.contains(call.name), call.arguments.count == ownArguments + 1 else { return call }
        return HostCall(call.name, call.arguments + [false])
    }

    /// `nil` = it has no id.
    static func again(_ call: HostCall) -> HostCall? {
        guard calls.contains(call.name), call.arguments.count > ownArguments else { return nil }
        return HostCall(call.name, call.arguments.prefix(ownArguments + 1) + [true])
    }
}
