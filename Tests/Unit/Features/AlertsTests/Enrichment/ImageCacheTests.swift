import Foundation
import Testing

@testable import Alerts

@Suite("Images on the disk")
struct ImageCacheTests {
    private let place: String
    private let cache: ImageCache
    private let format = ImageFormat(kind: .png, width: 1, height: 1)
    private let now: Int64 = 1_700_000_000_000

    init() throws {
        place =
            FileManager.default.temporaryDirectory.appendingPathComponent("bellwire-images-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        cache = ImageCache(directory: "\(place)/images")
    }

    private func name(_ number: Int) -> String { String(repeating: "0", count: 16) + String(format: "%04x", number) }

    private var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: cache.directory)) ?? []).sorted()
    }

    private func mode(_ path: String) -> UInt16? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? UInt16
    }

    private func touch(_ path: String, at moment: Int64) {
        var times = [
            timeval(tv_sec: Int(moment / 1_000), tv_usec: 0), timeval(tv_sec: Int(moment / 1_000), tv_usec: 0),
        ]
        utimes(path, &times)
    }

    private func failure(_ body: () throws(EnrichmentError) -> Void) -> EnrichmentError.Code? {
        do throws(EnrichmentError) {
            try body()
            return nil
        } catch { return error.code }
    }

    private func end() { try? FileManager.default.removeItem(atPath: place) }

    @Test("An image is kept whole, for its user alone, under the name of its hash and its kind")
    func keeping() throws {
        defer { end() }
        let path = try cache.keep([1, 2, 3], format, named: name(1))
        #expect(path == "\(cache.directory)/\(name(1)).png")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([1, 2, 3]))
        #expect(mode(path) == 0o600 && mode(cache.directory) == 0o700)
        #expect(try cache.keep([4], format, named: name(1)) == path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([4]))
        _ = try cache.keep([], ImageFormat(kind: .webp, width: 1, height: 1), named: name(1))
        #expect(files == ["\(name(1)).png", "\(name(1)).webp"])
    }

    @Test(
        "What is no hash is no name",
        arguments: [
            "", "..", "../../../../etc/passwd", "%2F..%2F%2F..%2F%2F..%2F", "0123456789abcde", "0123456789ABCDEF",
            "0123456789abcde/",
            "0123456789abcdef.png", "0123456789abcdef\u{0}", String(repeating: "a", count: 129),
        ])
    func names(name: String) {
        defer { end() }
        #expect(failure { () throws(EnrichmentError) in _ = try cache.keep([1], format, named: name) } == .notKept)
        #expect(files.isEmpty)
    }

    @Test("A directory that is a link is not followed; a file that is one is replaced, and what it leads to stays")
    func links() throws {
        defer { end() }
        let elsewhere = "\(place)/elsewhere"
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
        symlink(elsewhere, cache.directory)
        #expect(failure { () throws(EnrichmentError) in _ = try cache.keep([1], format, named: name(1)) } == .notKept)
        #expect(cache.sweep(now: now) == 0)
        unlink(cache.directory)
        mkdir(cache.directory, 0o755)
        let victim = "\(place)/victim"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: victim))
        symlink(victim, "\(cache.directory)/\(name(1)).png")
        let path = try cache.keep([1], format, named: name(1))
        #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == Data("mine".utf8))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data([1]))
        #expect(mode(cache.directory) == 0o700)
    }

    @Test("Without a directory above it, or with a file in its place, the image is not kept")
    func nowhere() throws {
        defer { end() }
        let lost = ImageCache(directory: "\(place)/no/images")
        #expect(failure { () throws(EnrichmentError) in _ = try lost.keep([1], format, named: name(1)) } == .notKept)
        try Data().write(to: URL(fileURLWithPath: cache.directory))
        #expect(failure { () throws(EnrichmentError) in _ = try cache.keep([1], format, named: name(1)) } == .notKept)
        #expect(cache.sweep(now: now) == 0)
    }

    @Test("A disk that is full keeps nothing, and leaves nothing")
    func full() async throws {
        defer { end() }
        _ = try cache.keep([1], format, named: name(1))
        let (directory, file) = (cache.directory, name(2))
        // A limit is one of the whole process, and would stop the files of other tests.
        await #expect(processExitsWith: .success) { [directory = directory as String, file = file as String] in
            signal(SIGXFSZ, SIG_IGN)
            var small = rlimit(rlim_cur: 1_000, rlim_max: 1_000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &small)
            let format = ImageFormat(kind: .png, width: 1, height: 1)
            do throws(EnrichmentError) {
                _ = try ImageCache(directory: directory).keep([UInt8](repeating: 1, count: 5_000), format, named: file)
                exit(1)
            } catch {
                exit(error.code == .notKept ? 0 : 2)
            }
        }
        #expect(files == ["\(name(1)).png"])
    }

    @Test("After a day a file goes; one that was never finished after ten minutes; what is not ours stays")
    func ages() throws {
        defer { end() }
        for (number, age) in [(1, 0), (2, 86_400_000), (3, 86_401_000), (4, -86_401_000)] as [(Int, Int64)] {
            touch(try cache.keep([1], format, named: name(number)), at: now - age)
        }
        for (file, age) in [
            ("\(name(5)).1.new", 601_000), ("\(name(6)).1.new", 0), ("notes.txt", 999_999_000),
            ("\(name(7)).svg", 999_999_000),
        ] as [(String, Int64)] {
            try Data([1]).write(to: URL(fileURLWithPath: "\(cache.directory)/\(file)"))
            touch("\(cache.directory)/\(file)", at: now - age)
        }
        mkdir("\(cache.directory)/\(name(8)).png", 0o700)
        #expect(cache.sweep(now: now) == 3)
        #expect(
            files == [
                "\(name(1)).png", "\(name(2)).png", "\(name(6)).1.new", "\(name(7)).svg", "\(name(8)).png", "notes.txt",
            ])
        #expect(cache.sweep(now: now) == 0)
    }

    @Test("Over 200 MiB the oldest go first")
    func sizes() throws {
        defer { end() }
        for number in 0..<5 {
            let path = try cache.keep([1], format, named: name(number))
            // Without its bytes on the disk.
            #expect(truncate(path, 60 << 20) == 0)
            touch(path, at: now - Int64(number) * 1_000)
        }
        #expect(cache.sweep(now: now) == 2)
        #expect(files == (0..<3).map { "\(name($0)).png" })
    }

    @Test("Nothing is there to sweep at first")
    func nothing() {
        defer { end() }
        #expect(cache.sweep(now: now) == 0)
        #expect(files.isEmpty)
    }
}
