import JSON

/// What a running desktop serves to others on this machine: its control socket, and its HTTP door.
final class DesktopServices {
    private let door: DesktopDoor?
    private var control: ControlSocket?
    private let requests: ControlRequests
    /// Another command has asked it to stop.
    private(set) var isStopping = false

    /// To be polled while the desktop runs.
    var descriptors: [Int32] { [door?.descriptor, control?.descriptor].compactMap(\.self) }

    init(_ handle: Handle, _ arguments: Arguments, announce: @escaping (String) -> Void) throws(Failure) {
        requests = ControlRequests(handle)
        door = try DesktopDoor(handle, arguments, announce: announce)
        guard let directory = try DesktopDirectory.path(arguments) else { return }
        do throws(Failure) {
            control = try ControlSocket(directory) { [weak self] in self?.perform($0, $1) }
        } catch {
            // Some file systems have no sockets: everything else works.
            Output.notice(error.message)
        }
        requests.perform(["call": "invoke", "method": "desktop.groups"]) { [weak self] in self?.learn($0) }
    }

    /// To be called when one of ``descriptors`` is readable.
    func serve() throws(Failure) {
        try door?.serve()
        control?.serve()
    }

    func close() {
        door?.close()
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
