import CBellwire
import JSON

/// What a running desktop serves on this machine: its HTTP door, and alerts on the screen.
final class DesktopServices {
    private let door: DesktopDoor?
    private let alerts: DesktopAlerts?

    /// To be polled while the desktop runs.
    var descriptors: [Int32] { [door?.descriptor, alerts?.descriptor].compactMap(\.self) }

    init(_ handle: Handle, _ arguments: Arguments, announce: @escaping (String) -> Void) throws(Failure) {
        door = try DesktopDoor(handle, arguments, announce: announce)
        alerts = try DesktopServices.alerts(handle, arguments)
    }

    private static func alerts(_ handle: Handle, _ arguments: Arguments) throws(Failure) -> DesktopAlerts? {
        guard !arguments.has(Command.noAlerts) else { return nil }
        return try DesktopAlerts(handle)
    }

    /// An event of the desktop's.
    func take(_ event: String, _ data: JSONValue) { alerts?.take(event, data) }

    /// To be called when one of ``descriptors`` is readable.
    func serve() throws(Failure) {
        try door?.serve()
        try alerts?.serve()
    }

    func close() {
        door?.close()
        alerts?.close()
    }
}
