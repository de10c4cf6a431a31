import Glibc
import Synchronization
import Testing

@testable import Store

/// A directory of its own for one test, removed at its end.
final class Scratch {
    let directory: String

    init() throws {
        var template = Array("/tmp/bellwire-store-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw StoreError(.cannotOpen, "no scratch directory") }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    var path: String { "\(directory)/test.db" }

    var names: [String] {
        guard let handle = opendir(directory) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func write(_ bytes: [UInt8], to path: String, at offset: Int = 0, truncate: Bool = false) throws {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | (truncate ? O_TRUNC : 0), 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        try #require(pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count)
    }

    func read(_ path: String) throws -> [UInt8] {
        let descriptor = Glibc.open(path, O_RDONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}

/// What `then`s told, in order, and a wait with a deadline.
final class Recorder<T: Sendable>: Sendable {
    private let values = Mutex<[T]>([])

    func add(_ value: T) { values.withLock { $0.append(value) } }
    var all: [T] { values.withLock { $0 } }

    /// Waits until there are `count`, at most 10 s.
    func wait(for count: Int) -> [T] {
        let answer = Deadline(seconds: 10)
        while all.count < count, !answer.isOver { sched_yield() }
        return all
    }
}

struct Deadline {
    private let end: Int

    init(seconds: Int) { end = Deadline.now + seconds }

    var isOver: Bool { Deadline.now >= end }

    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec
    }
}

extension Migration {
    static let numbers = Migration(
        "numbers.1", sql: "CREATE TABLE number (value INTEGER NOT NULL UNIQUE, note TEXT) STRICT")

    static let names = Migration(
        "names.1",
        sql: """
            CREATE TABLE name (row INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
            CREATE INDEX name_by_text ON name (text);
            CREATE TABLE padding (bytes BLOB NOT NULL) STRICT;
            """)
}

extension Database {
    static func numbers(_ path: String = ":memory:", queueLimit: Int = 65_536) throws -> Database {
        try open(path: path, migrations: [.numbers], queueLimit: queueLimit).database
    }

    func all() throws -> [Int64] {
        try run { connection throws(StoreError) in
            try connection.query("SELECT value FROM number ORDER BY rowid") { (row) throws(StoreError) in
                try row.integer(0)
            }
        }
    }

    func insert(_ value: Int64) throws { try insert([value]) }

    func insert(_ values: [Int64]) throws {
        try run { connection throws(StoreError) in
            for value in values { try connection.execute("INSERT INTO number(value) VALUES (?)", [.integer(value)]) }
        }
    }
}

extension Result where Failure == StoreError {
    var code: StoreError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
