import CBellwire
import JSON

/// This machine's desktop, as other commands use it: through the program that runs it, or else by its files.
final class LocalDesktop {
    let directory: String
    private let handle: Handle

    /// How long devices and relays are waited for, in milliseconds.
    private static let timeout: Int32 = 10_000

    init(_ arguments: Arguments) throws(Failure) {
        directory = try LocalDesktop.directory(arguments)
        // A desktop that starts with options of its own takes over.
        handle = try Handle(
            .desktop, options: ["state_dir": .string(directory), "yields": true], verbose: arguments.has(.verbose))
    }

    static func directory(_ arguments: Arguments) throws(Failure) -> String {
        guard let path = try DesktopDirectory.path(arguments) else {
            throw Failure(.usage, "a desktop with --state-dir :memory: cannot be reached by other commands")
        }
        return path
    }

    /// Whether a program runs it: it is online, or about to be.
    func isRunning() throws(Failure) -> Bool {
        try result { bw_desktop_state(handle.pointer, $0) }["started"]?.bool ?? false
    }

    func notify(_ params: JSONObject) throws(Failure) -> JSONValue {
        let text = JSONValue.object(params).serialized()
        return try handle.completion { bw_desktop_notify_async(handle.pointer, text, LocalDesktop.timeout, $0, $1, $2) }
    }

    func invoke(_ method: String, _ params: JSONObject = [:]) throws(Failure) -> JSONValue {
        let text = JSONValue.object(params).serialized()
        return try handle.completion {
            bw_desktop_invoke_async(handle.pointer, method, text, LocalDesktop.timeout, $0, $1, $2)
        }
    }

    /// Shows a new code for pairing.
    func offer() throws(Failure) -> JSONValue {
        try handle.completion { bw_desktop_offer_async(handle.pointer, LocalDesktop.timeout, $0, $1, $2) }
    }

    /// Creates a new code for typing.
    func code() throws(Failure) -> JSONValue {
        try handle.completion { bw_desktop_code_async(handle.pointer, LocalDesktop.timeout, $0, $1, $2) }
    }

    func devices() throws(Failure) -> [PairedPeer] {
        try result { bw_desktop_devices(handle.pointer, $0) }.array?.compactMap { PairedPeer($0) } ?? []
    }

    /// As `bw_desktop_rekey_status()`.
    func keyMoves() throws(Failure) -> JSONValue { try result { bw_desktop_rekey_status(handle.pointer, $0) } }

    func answerMove(of device: KeyQuestion, _ accept: Bool) throws(Failure) {
        try check(bw_desktop_rekey_confirm(handle.pointer, device.peer.id, device.newID, accept ? 1 : 0))
    }

    func allow(_ device: PairedPeer, _ allowance: String) throws(Failure) {
        try check(bw_desktop_allow(handle.pointer, device.id, "notification", allowance))
    }
}
