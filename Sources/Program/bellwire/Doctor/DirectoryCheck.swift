import Glibc

/// Checks a role's state directory, without opening anything in it.
struct DirectoryCheck {
    /// Files that others may neither read nor write.
    private static let secret = ["identity.key", "identity.next.key", "tokens.json"]
    /// Below this, a database soon cannot grow, in bytes.
    private static let room: UInt64 = 64 << 20

    private let name: String
    private let path: String
    private let database: String

    init(_ role: RoleStatus.Role, in path: String) {
        name = "\(role.rawValue) directory"
        self.path = path
        database = role.database
    }

    func run() -> [Finding] {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else {
                return [
                    .fail(name, "cannot read \(path): \(Failure.systemError)", "Check the permissions of its parents.")
                ]
            }
            return [.ok(name, "\(path) does not exist yet")]
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return [.fail(name, "\(path) is not a directory", "Move it away, or use another --state-dir.")]
        }
        var findings = [owner(status), mode(status), access()].compactMap(\.self)
        findings += DirectoryCheck.secret.compactMap(secret)
        if findings.isEmpty, Glibc.access("\(path)/\(database)", F_OK) == 0,
            Glibc.access("\(path)/identity.key", F_OK) != 0
        {
            findings.append(
                .warn(
                    name, "\(path) has a database, but no identity.key",
                    "If its program keeps the key in the keyring, this is right. Else restore the key from a backup."))
        }
        findings += space()
        return findings.isEmpty ? [.ok(name, path)] : findings
    }

    private func owner(_ status: stat) -> Finding? {
        guard status.st_uid != geteuid() else { return nil }
        return .fail(
            name, "\(path) belongs to another user (\(status.st_uid))",
            "Run bellwire as that user, or chown the directory, or use another --state-dir.")
    }

    private func mode(_ status: stat) -> Finding? {
        guard status.st_mode & (S_IWGRP | S_IWOTH) != 0, status.st_mode & S_ISVTX == 0 else { return nil }
        return .fail(name, "others can write to \(path)", "Run: chmod go-w \(path)")
    }

    private func access() -> Finding? {
        guard Glibc.access(path, R_OK | W_OK | X_OK) != 0 else { return nil }
        return .fail(
            name, "cannot write to \(path): \(Failure.systemError)",
            "Check its permissions and how the disk is mounted.")
    }

    private func secret(_ file: String) -> Finding? {
        var status = stat()
        guard stat("\(path)/\(file)", &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
        return .fail(
            name, "other users can open \(path)/\(file)",
            "Run: chmod 600 \(path)/\(file). If others may have read it, use a new key (bellwire rekey).")
    }

    private func space() -> [Finding] {
        var disk = statvfs()
        guard statvfs(path, &disk) == 0 else { return [] }
        let free = UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
        guard !free.overflow, free.partialValue < DirectoryCheck.room else { return [] }
        return [.warn(name, "only \(free.partialValue >> 20) MiB are free on the disk of \(path)", "Make room.")]
    }
}
