import Glibc
import Testing

@testable import Identity

/// A folder of its own for each test, removed in the end.
private final class Folder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/bellwire-identity-XXXXXX".utf8CString)
        _ = try #require(mkdtemp(&template))
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    var keyPath: String { "\(path)/identity.key" }

    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    func write(_ bytes: [UInt8], mode: mode_t) throws {
        let descriptor = open(keyPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        #expect(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
        fchmod(descriptor, mode)
        close(descriptor)
    }

    func read() throws -> [UInt8] {
        let descriptor = open(keyPath, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    func loadError() -> IdentityError? {
        do throws(IdentityError) { _ = try SigningKey.loadOrCreate(path: keyPath) } catch { return error }
        return nil
    }
}

@Suite struct SigningKeyFileTests {
    @Test("the first use makes a key for its owner alone, the next gives the same, and nothing is left beside it")
    func createThenLoad() throws {
        let folder = try Folder()
        let first = try SigningKey.loadOrCreate(path: folder.keyPath)
        let second = try SigningKey.loadOrCreate(path: folder.keyPath)
        #expect(first.did == second.did)
        #expect(second.publicKey.verifies(signature: second.sign("x"), for: "x"))
        var status = stat()
        #expect(stat(folder.keyPath, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(folder.names == ["identity.key"])
    }

    @Test("many who begin at once all get one key")
    func race() async throws {
        for _ in 0..<20 {
            let folder = try Folder()
            let path = folder.keyPath
            let dids = await withTaskGroup(of: String?.self) { group in
                for _ in 0..<8 { group.addTask { try? SigningKey.loadOrCreate(path: path).did } }
                return await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(dids.count == 8)
            #expect(Set(dids).count == 1)
            #expect(dids[0] != nil)
            #expect(folder.names == ["identity.key"])
        }
    }

    @Test(
        "a key file that others can open is refused, and the message says how to mend it",
        arguments: [0o640, 0o604, 0o660, 0o777])
    func exposed(mode: Int) throws {
        let folder = try Folder()
        _ = try SigningKey.loadOrCreate(path: folder.keyPath)
        chmod(folder.keyPath, mode_t(mode))
        let error = folder.loadError()
        #expect(error?.code == .keyFileExposed)
        #expect(error?.message.contains("chmod 600 \(folder.keyPath)") == true)
        chmod(folder.keyPath, 0o600)
        #expect(folder.loadError() == nil)
    }

    @Test("a file of another size, or one that holds no key pair, is refused and stays as it is")
    func damaged() throws {
        let folder = try Folder()
        for size in [0, 1, 32, 63, 65, 4_096] {
            try folder.write([UInt8](repeating: 7, count: size), mode: 0o600)
            #expect(folder.loadError()?.code == .keyFileDamaged)
        }
        unlink(folder.keyPath)
        _ = try SigningKey.loadOrCreate(path: folder.keyPath)
        var bytes = try folder.read()
        #expect(bytes.count == 64)
        for index in [0, 31, 32, 63] {
            bytes[index] ^= 1
            try folder.write(bytes, mode: 0o600)
            #expect(folder.loadError()?.code == .keyFileDamaged)
            #expect(try folder.read() == bytes)
            bytes[index] ^= 1
        }
        try folder.write(bytes, mode: 0o600)
        #expect(folder.loadError() == nil)
    }

    @Test("a folder in its place, a folder that is missing, and a pipe are errors that name the path")
    func notAFile() throws {
        let folder = try Folder()
        #expect(mkdir(folder.keyPath, 0o700) == 0)
        #expect(folder.loadError()?.code == .keyFileDamaged)
        rmdir(folder.keyPath)
        #expect(mkfifo(folder.keyPath, 0o600) == 0)
        #expect(folder.loadError()?.code == .keyFileDamaged)
        #expect(throws: IdentityError.self) { try SigningKey.loadOrCreate(path: "\(folder.path)/missing/key") }
        do throws(IdentityError) { _ = try SigningKey.loadOrCreate(path: "\(folder.path)/missing/key") } catch {
            #expect(error.code == .keyFileUnreadable)
            #expect(error.message.contains("\(folder.path)/missing/key"))
        }
    }
}
