import Commands
import Hosting
import Identity
import JSON
import Sharing
import Wire

/// By which id a program's own command reaches its desktop, if another program holds the desktop: should that end during
/// the call, the next holder finds the stored answer under this id, or executes the command.
///
/// The holder's own commands have none, unless it was opened with "yields": only then can another program take over
/// during them.
enum OwnCommandIdentity {
    /// Under what the answers to programs are kept, in the place of a device's id. No device has an empty one.
    static let caller = PeerID("")

    private static let calls: [DesktopCall] = [.notify, .invoke]

    /// How many arguments the command has without its id; `nil` = the call is none of these.
    private static func ownArguments(_ call: HostCall) -> Int? {
        guard let name = DesktopCall(rawValue: call.name), calls.contains(name) else { return nil }
        return name.timeoutPlace.map { $0 + 1 }
    }

    /// What follows the command's own arguments.
    static func read(_ arguments: inout CallArguments) throws(HostError) -> RequestID? {
        guard let text = try arguments.optionalText() else { return nil }
        guard (1...64).contains(text.utf8.count) else { throw HostError(.invalid, "an id has 1 to 64 bytes") }
        return RequestID(text)
    }

    static func given(to call: HostCall) -> HostCall {
        guard call.arguments.count == ownArguments(call) else { return call }
        let id = TextEncoding.hex.encode(Identity.randomBytes(16))
        return HostCall(call.name, call.arguments + [.string(id)])
    }

    /// Whether it can be carried out again.
    static func isIn(_ call: HostCall) -> Bool {
        guard let count = ownArguments(call) else { return false }
        return call.arguments.count > count
    }
}
