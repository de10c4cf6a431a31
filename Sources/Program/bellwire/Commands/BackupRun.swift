import CBellwire
import Glibc
import JSON

/// One run of `bellwire backup`.
struct BackupRun {
    private let arguments: Arguments
    private let path: String
    private let places: [StatePlace]

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        path = arguments.operands.first ?? ""
        places = try StatePlace.onDisk(arguments, of: "backup")
    }

    func run() throws(Failure) -> Exit {
        let saved = places.filter { access("\($0.directory)/\($0.role.database)", F_OK) == 0 }
        guard !saved.isEmpty else {
            let directories = places.map(\.directory).joined(separator: " or ")
            throw Failure(.notPaired, "there is nothing to save in \(directories)")
        }
        let writer = try BackupWriter(path)
        for place in saved { try add(place, to: writer) }
        let configuration = Configuration.path
        let hasConfiguration = try configuration.map { path throws(Failure) in
            try writer.add(StateFiles.configuration, from: path)
        }
        try writer.finish(version: String(cString: bw_version()))
        guard !arguments.has(.json) else {
            Output.json([
                "file": .string(path), "bytes": .integer(Int64(writer.size)),
                "roles": .array(saved.map { .string($0.role.rawValue) }),
                "configuration": .bool(hasConfiguration ?? false),
            ])
            return .done
        }
        let names = saved.map(\.role.rawValue).joined(separator: " and ")
        Output.line("Saved the \(names) in \(Word.shown(path)).")
        Output.notice("the file contains keys; keep it like a password")
        return .done
    }

    private func add(_ place: StatePlace, to writer: BackupWriter) throws(Failure) {
        let (role, directory) = (place.role.rawValue, place.directory)
        let files = StateFiles(place.role)
        let before = try key(in: directory)
        for database in files.databases {
            // The archive needs its size first.
            let copy = path + ".\(getpid()).db"
            defer { unlink(copy) }
            let descriptor = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw Failure(.failed, "cannot create \(copy): \(Failure.systemError)") }
            close(descriptor)
            guard try DatabaseCopy.make(of: "\(directory)/\(database)", at: copy) else { continue }
            try DatabaseCopy.check(copy)
            _ = try writer.add("\(role)/\(database)", from: copy)
        }
        for file in files.files { _ = try writer.add("\(role)/\(file)", from: "\(directory)/\(file)") }
        guard try writer.add("\(role)/\(StateFiles.key)", from: "\(directory)/\(StateFiles.key)"),
            try key(in: directory) == before
        else { throw Failure(.failed, "the key in \(directory) has changed; run the command again") }
    }

    /// Of a key that a program keeps in a keyring there is no file.
    private func key(in directory: String) throws(Failure) -> [UInt8] {
        let path = "\(directory)/\(StateFiles.key)"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            let (isMissing, reason) = (errno == ENOENT, Failure.systemError)
            throw Failure(
                .failed,
                "cannot read \(path): \(reason)"
                    + (isMissing ? "; a key that a program keeps in the keyring cannot be saved" : ""))
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}

extension StatePlace {
    /// ``all(_:of:)`` for commands that copy the directories, or replace them.
    static func onDisk(_ arguments: Arguments, of command: String) throws(Failure) -> [StatePlace] {
        try all(arguments, of: command).map { place throws(Failure) in
            var directory = place.directory
            if directory == ":memory:" { throw Failure(.usage, "--state-dir :memory: stores nothing") }
            while directory.count > 1, directory.hasSuffix("/") { directory.removeLast() }
            return StatePlace(role: place.role, directory: directory)
        }
    }
}
