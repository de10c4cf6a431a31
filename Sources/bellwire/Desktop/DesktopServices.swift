import CBellwire
import JSON

/// What a running desktop serves on this machine: its control socket, its HTTP door, and alerts on the screen.
final class DesktopServices {
    private let door: DesktopDoor?
    private let alerts: DesktopAlerts?
    private var control: ControlSocket?
    private let requests: ControlRequests
    /// Another command has asked it to stop.
    private(set) var isStopping = false

    /// To be polled while the desktop runs.
    var descriptors: [Int32] { [door?.descriptor, alerts?.descriptor, control?.descriptor].compactMap(\.self) }

    init(_ handle: Handle, _ arguments: Arguments, announce: @escaping (String) -> Void) throws(Failure) {
        requests = ControlRequests(handle)
        door = try DesktopDoor(handle, arguments, announce: announce)
        alerts = try DesktopServices.alerts(handle, arguments)
        guard let directory = try DesktopDirectory.path(arguments) else { return }
        do throws(Failure) {
            control = try ControlSocket(directory) { [weak self] in self?.perform($0, $1) }
        } catch {
            // Some file systems have no sockets: everything else works.
            Output.notice(error.message)
        }
        requests.perform(["call": "invoke", "method": "desktop.groups"]) { [weak self] in self?.learn($0) }
    }

    private static func alerts(_ handle: Handle, _ arguments: Arguments) throws(Failure) -> DesktopAlerts? {
        guard !arguments.has(Command.noAlerts) else { return nil }
        let state = try result { bw_desktop_state(handle.pointer, $0) }
        return try DesktopAlerts(handle, name: state["name"]?.string ?? "Bellwire")
    }

    /// An event of the desktop's.
    func take(_ event: String, _ data: JSONValue) { alerts?.take(event, data) }

    /// To be called when one of ``descriptors`` is readable.
    func serve() throws(Failure) {
        try door?.serve()
        try alerts?.serve()
        control?.serve()
    }

    func close() {
        door?.close()
        alerts?.close()
        control = nil
    }

    private func perform(_ request: JSONValue, _ reply: @escaping ControlSocket.Reply) {
        if request["call"]?.string == "stop" {
            isStopping = true
            return reply(ControlAnswer.success([:]))
        }
        requests.perform(request) { [weak self] result in
            self?.learn(result)
            switch result {
            case .success(let answer): reply(ControlAnswer.success(answer))
            case .failure(let error): reply(ControlAnswer.failure(error))
            }
        }
    }

    /// Every change of the groups comes through here.
    private func learn(_ result: Result<JSONValue, Failure>) {
        guard let groups = (try? result.get())?["groups"]?.array else { return }
        door?.groups = Set(groups.compactMap { $0["name"]?.string })
    }
}
