import CArguments
import CBellwire
import Glibc
import Hosting
import Identity
import JSON

/// One run of `bellwire restore`.
///
/// Everything is unpacked beside the state directories and opened there. Only then does each take the place of its
/// directory, in one step, so that a crash leaves the state before or the restored one.
struct RestoreRun {
    /// A role that was unpacked and can be opened.
    private struct Unpacked {
        let place: StatePlace
        let folder: String
        let peers: [PairedPeer]

        var json: JSONValue {
            [
                "role": .string(place.role.rawValue), "peers": .array(peers.map(\.unconnected)),
                "directory": .string(place.directory),
            ]
        }

        var text: String {
            let names = peers.isEmpty ? "nothing" : peers.map(\.name).joined(separator: ", ")
            return "\(place.role.rawValue), paired with \(names)"
        }
    }

    private let arguments: Arguments
    private let path: String
    private let places: [StatePlace]
    private let json: Bool

    init(_ arguments: Arguments) throws(Failure) {
        try arguments.exclude([Command.restoreReplace, Command.restoreCheck], of: "restore")
        self.arguments = arguments
        path = arguments.operands.first ?? ""
        json = arguments.has(.json)
        places = try StatePlace.onDisk(arguments, of: "restore")
    }

    func run() throws(Failure) -> Exit {
        let isCheck = arguments.has(Command.restoreCheck)
        if !isCheck { for place in places { try make(parentOf: place.directory) } }
        let base = isCheck ? try RestoreRun.temporary() : (places.first?.directory ?? "")
        let folder = "\(base).restoring-\(getpid())"
        guard mkdir(folder, 0o700) == 0 else {
            throw Failure(.failed, "cannot create \(folder): \(Failure.systemError)")
        }
        defer { RestoreRun.remove(folder) }
        let description = try BackupReader.unpack(path, to: folder) { name in
            name == StateFiles.configuration || places.contains { name.hasPrefix("\($0.role.rawValue)/") }
        }
        var unpacked: [Unpacked] = []
        for place in places { if let each = try open(place, in: folder) { unpacked.append(each) } }
        guard !unpacked.isEmpty else {
            throw Failure(.notPaired, "\(path) has no \(places.map(\.role.rawValue).joined(separator: " or "))")
        }
        if isCheck {
            show(unpacked, description, said: "The backup has the")
            return .done
        }
        // All are refused before any is replaced.
        var held: [StateDirectory] = []
        defer { for directory in held { directory.close() } }
        for each in unpacked { held.append(try hold(each.place)) }
        for each in unpacked { try replace(each, description) }
        try restoreConfiguration(from: "\(folder)/\(StateFiles.configuration)")
        show(unpacked, description, said: "Restored the")
        return .done
    }

    private func show(_ unpacked: [Unpacked], _ description: JSONValue, said: String) {
        let time = description["createdAt"]?.integer ?? 0
        guard !json else {
            return Output.json(["createdAt": .integer(time), "roles": .array(unpacked.map(\.json))])
        }
        for each in unpacked { Output.line(Printable.line("\(said) \(each.text).")) }
        Output.line("It was saved on \(Clock.text(ofEpochMilliseconds: time)).")
        guard !arguments.has(Command.restoreCheck) else { return }
        Output.notice("never run it on two machines; what was paired, unpaired or revoked since then must be so again")
    }

    // MARK: Checking

    /// Opens the unpacked files as a program would, without going online; `nil` if the backup has no such role.
    private func open(_ place: StatePlace, in folder: String) throws(Failure) -> Unpacked? {
        let directory = "\(folder)/\(place.role.rawValue)"
        guard access("\(directory)/\(place.role.database)", F_OK) == 0 else { return nil }
        guard access("\(directory)/\(StateFiles.key)", F_OK) == 0 else {
            throw Failure(.failed, "\(path) has no key of the \(place.role.rawValue). Use another backup")
        }
        for database in StateFiles(place.role).databases where access("\(directory)/\(database)", F_OK) == 0 {
            try DatabaseCopy.check("\(directory)/\(database)")
        }
        let handle = try Handle(
            place.role.handle, options: ["state_dir": .string(directory), "shared": false],
            verbose: arguments.has(.verbose))
        let peers = try result { place.role.peers(handle.pointer, $0) }.array ?? []
        try handle.close()
        return Unpacked(place: place, folder: directory, peers: peers.compactMap { PairedPeer($0) })
    }

    // MARK: Replacing

    /// Keeps other programs away from the directory. One with a state in it is refused, unless it may be replaced.
    private func hold(_ place: StatePlace) throws(Failure) -> StateDirectory {
        let directory: StateDirectory?
        do throws(HostError) { directory = try StateDirectory.openIfFree(place.directory) } catch {
            throw Failure(.failed, LibraryWords.text(error.message))
        }
        guard let directory else {
            throw Failure(
                .inUse,
                "a program uses \(place.directory). Stop it first: bellwire desktop stop, systemctl --user stop "
                    + "bellwire-agent; bellwire status names others")
        }
        guard arguments.has(Command.restoreReplace) || !RestoreRun.hasState(place) else {
            directory.close()
            throw Failure(
                .failed,
                "\(place.directory) has a \(place.role.rawValue) already; pass --replace to keep it aside and restore this one"
            )
        }
        return directory
    }

    private static func hasState(_ place: StatePlace) -> Bool {
        [place.role.database, StateFiles.key, "\(place.role.rawValue).pairings"].contains {
            access("\(place.directory)/\($0)", F_OK) == 0
        }
    }

    private func replace(_ new: Unpacked, _ description: JSONValue) throws(Failure) {
        let directory = new.place.directory
        let hadState = RestoreRun.hasState(new.place)
        guard bw_exchange(new.folder, directory) == 0 else {
            let hint = errno == EBUSY || errno == EXDEV ? "; restore into another --state-dir, and copy it" : ""
            throw Failure(.failed, "cannot replace \(directory): \(Failure.systemError)\(hint)")
        }
        if hadState {
            let aside = "\(directory).replaced-\(WallClock.milliseconds / 1_000)"
            guard rename(new.folder, aside) == 0 else {
                let reason = Failure.systemError
                // Otherwise it would be removed with the folder.
                _ = bw_exchange(new.folder, directory)
                throw Failure(.failed, "cannot keep the state before as \(aside): \(reason)")
            }
            if !json { Output.line("The state before is in \(Word.shown(aside)).") }
        }
        do throws(IdentityError) { try FileBytes.syncFolder(of: directory) } catch {
            throw Failure(.failed, error.message)
        }
    }

    private func restoreConfiguration(from file: String) throws(Failure) {
        guard access(file, F_OK) == 0, let path = Configuration.path else { return }
        guard access(path, F_OK) != 0 else {
            if !json { Output.notice("\(path) was left as it is") }
            return
        }
        try make(parentOf: path)
        let text = try LineInput.contents(ofFile: file)
        do throws(IdentityError) { try FileBytes.replace(path, by: Array(text.utf8)) } catch {
            throw Failure(.failed, error.message)
        }
    }

    // MARK: Folders

    private func make(parentOf path: String) throws(Failure) {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let parent = String(path[..<slash])
        if access(parent, F_OK) == 0 { return }
        do throws(HostError) { try StateDirectory.make(parent) } catch {
            throw Failure(.failed, LibraryWords.text(error.message))
        }
    }

    private static func temporary() throws(Failure) -> String {
        (EnvironmentPath.read("TMPDIR") ?? "/tmp") + "/bellwire"
    }

    /// A folder of this program's own, with all that is in it. Links are not followed.
    private static func remove(_ folder: String) {
        if let list = opendir(folder) {
            while let entry = readdir(list) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name == "." || name == ".." { continue }
                let path = "\(folder)/\(name)"
                if unlink(path) != 0 { remove(path) }
            }
            closedir(list)
        }
        rmdir(folder)
    }
}
