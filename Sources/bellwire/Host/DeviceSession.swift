import CBellwire
import JSON

/// The device of one run of the program: opened with the user's options, connected to the desktop that the user means.
struct DeviceSession {
    static let options: [Option] = [.deviceStateDirectory, .caFile]

    let handle: Handle

    /// - Parameter name: what desktops call this device; only pairing tells them.
    init(_ arguments: Arguments, name: String? = nil) throws(Failure) {
        let options: JSONValue = [
            "state_dir": arguments.text(.deviceStateDirectory).map { .string($0) },
            "name": name.map { .string($0) },
            "tls": arguments.text(.caFile).map { ["ca_file": .string($0)] },
        ]
        handle = try Handle(.device, options: options, verbose: arguments.has(.verbose))
    }

    var pointer: OpaquePointer? { handle.pointer }

    func desktops() throws(Failure) -> [PairedDesktop] {
        try result { bw_pairing_list(pointer, $0) }.array?.compactMap { PairedDesktop($0) } ?? []
    }

    /// The desktop that `--to` means; the only one, where it is left out.
    func desktop(_ arguments: Arguments) throws(Failure) -> PairedDesktop {
        let all = try desktops()
        guard let first = all.first else {
            throw Failure(.notPaired, "no desktop is paired yet: bellwire pair takes the text of a desktop's QR code")
        }
        let known = all.map { "\($0.name) (\($0.id.prefix(20))…)" }.joined(separator: ", ")
        guard let wanted = arguments.text(.desktop) else {
            guard all.count == 1 else {
                throw Failure(.usage, "several desktops are paired, name one with --to: \(known)")
            }
            return first
        }
        let found =
            all.filter { $0.id == wanted }.nonEmpty ?? all.filter { $0.name == wanted }.nonEmpty
            ?? all.filter { !wanted.isEmpty && $0.id.hasPrefix(wanted) }
        guard let only = found.first else {
            throw Failure(.notPaired, "no paired desktop is \"\(wanted)\"; there are: \(known)")
        }
        guard found.count == 1 else { throw Failure(.usage, "\"\(wanted)\" means several desktops: \(known)") }
        return only
    }

    /// Goes online and waits until the desktop's connection is up.
    func connect(to desktop: PairedDesktop, until deadline: Int64) throws(Failure) {
        var connection = Connection()
        try handle.subscribe("connection.changed") { _, event in
            if event["desktop"]?.string == desktop.id, let data = event["data"] { connection = Connection(data) }
        }
        try handle.start()
        switch try handle.wait(until: deadline, isDone: { () throws(Failure) in connection.isOnline }) {
        case .done: return
        case .signal(let signal): throw .interrupted(signal)
        case .deadline:
            let reason = connection.problem.map { ": \($0)" } ?? ""
            throw Failure(.offline, "no connection to \(desktop.name) in time\(reason)")
        }
    }
}

/// A row of `bw_pairing_list`.
struct PairedDesktop {
    let id: String
    let name: String
    let json: JSONValue

    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string else { return nil }
        self.id = id
        let name = Printable.line(json["name"]?.string ?? "")
        self.name = name.isEmpty ? id : name
        self.json = json
    }

    /// For people: what it is called, and what it runs on.
    var title: String {
        guard let platform = json["platform"]?.string, !platform.isEmpty else { return name }
        return "\(name) (\(Printable.line(platform)))"
    }
}

/// The data of `connection.changed`.
struct Connection: Equatable {
    var isOnline = false
    /// What the first route that has trouble says.
    var problem: String?

    init() {}

    init(_ data: JSONValue) {
        isOnline = data["online"]?.bool ?? false
        problem = data["routes"]?.array?.lazy.compactMap { $0["problem"]?.string }.first
    }
}

extension Array {
    fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}
