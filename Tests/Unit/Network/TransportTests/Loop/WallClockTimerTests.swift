import CUV
import Foundation
import TestSupport
import Testing

@testable import Transport

@Suite("Wall clock timer", .serialized)
struct WallClockTimerTests {
    private let fired = Mailbox<Int>()
    private static let pastMoments: [Int64] = [.min, -1, 0, 1, 1_000, 999_999_999]

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// How many of the kernel's timers by the clock on the wall this process holds; other tests have others.
    private static var timers: Int {
        let directory = "/proc/self/fdinfo/"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.count {
            (try? String(contentsOfFile: directory + $0, encoding: .utf8))?.contains("clockid: \(CLOCK_REALTIME)\n")
                == true
        }
    }

    @Test("It fires at its moment and not before, once")
    @EventLoop
    func moment() async throws {
        let timer = WallClockTimer { fired.put(1) }
        let due = Self.now + 150
        timer.start(at: due)
        _ = try await fired.next()
        #expect(Self.now >= due)
        // Nothing else comes until a later one has.
        let later = LoopTimer { fired.put(2) }
        later.start(after: 50)
        #expect(try await fired.next() == 2)
        timer.stop()
    }

    @Test(
        "What is past comes at once, however far, and so does 0", arguments: WallClockTimerTests.pastMoments)
    @EventLoop
    func past(moment: Int64) async throws {
        let timer = WallClockTimer { fired.put(1) }
        timer.start(at: moment)
        _ = try await fired.next()
        timer.stop()
    }

    @Test("Starting again moves the moment; the farthest one is waited for")
    @EventLoop
    func moved() async throws {
        let timer = WallClockTimer { fired.put(1) }
        let soon = Self.now + 3_600_000
        for moment in [.max, .max / 2, 253_402_300_799_999, soon] as [Int64] { timer.start(at: moment) }
        let later = LoopTimer { fired.put(2) }
        later.start(after: 50)
        #expect(try await fired.next() == 2)
        timer.start(at: Self.now + 20)
        #expect(try await fired.next() == 1)
        // From inside of what it calls.
        var rounds = 0
        var again: WallClockTimer?
        again = WallClockTimer {
            rounds += 1
            if rounds < 3 { again?.start(at: Self.now) } else { fired.put(rounds) }
        }
        again?.start(at: 0)
        #expect(try await fired.next() == 3)
        again = nil
        timer.stop()
    }

    @Test("It holds no descriptor before its first start, and none after it was stopped or let go of")
    @EventLoop
    func descriptors() async throws {
        let before = Self.timers
        let timer = WallClockTimer { fired.put(1) }
        #expect(Self.timers == before)
        timer.start(at: Self.now + 3_600_000)
        timer.start(at: Self.now + 7_200_000)
        #expect(Self.timers == before + 1)
        timer.stop()
        #expect(Self.timers == before)
        // Stopped before it could fire.
        timer.start(at: 0)
        timer.stop()
        do {
            let forgotten = WallClockTimer { fired.put(3) }
            forgotten.start(at: 0)
            #expect(Self.timers == before + 1)
        }
        #expect(Self.timers == before)
        let later = LoopTimer { fired.put(2) }
        later.start(after: 50)
        #expect(try await fired.next() == 2)
        #expect(fired.isEmpty)
    }

    @Test("A change of the machine's zone fires it; other files beside the zone's do not")
    @EventLoop
    func zone() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "bellwire-zone-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.path(percentEncoded: false)
        let timer = WallClockTimer(zoneDirectory: path, makeTimer: bw_wall_timer) { fired.put(1) }
        timer.start(at: Self.now + 3_600_000)
        let files = FileManager.default
        for number in 0..<200 {
            #expect(files.createFile(atPath: "\(path)/other-\(number)", contents: Data()))
        }
        let later = LoopTimer { fired.put(2) }
        later.start(after: 50)
        #expect(try await fired.next() == 2)
        // A link under another name, renamed: how timedatectl and package scripts do it.
        try files.createSymbolicLink(atPath: "\(path)/.#localtime", withDestinationPath: "/usr/share/zoneinfo/UTC")
        #expect(rename("\(path)/.#localtime", "\(path)/localtime") == 0)
        #expect(try await fired.next() == 1)
        // A link in the place of the one that was removed.
        unlink("\(path)/localtime")
        try files.createSymbolicLink(atPath: "\(path)/localtime", withDestinationPath: "/usr/share/zoneinfo/UTC")
        #expect(try await fired.next() == 1)
        timer.stop()
    }

    @Test("Without descriptors it looks at the clock from time to time")
    @EventLoop
    func substitute() async throws {
        let timer = WallClockTimer(zoneDirectory: "/nonexistent", makeTimer: { -1 }) { fired.put(1) }
        let due = Self.now + 100
        timer.start(at: .max)
        timer.start(at: due)
        _ = try await fired.next()
        #expect(Self.now >= due)
        timer.start(at: .min)
        _ = try await fired.next()
        // Descriptors that cannot be watched, or armed.
        let descriptors: [() -> CInt] = [
            { open("/dev/null", O_RDONLY) }, { socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0) },
        ]
        for makeTimer in descriptors {
            let wrong = WallClockTimer(zoneDirectory: "/nonexistent", makeTimer: makeTimer) { fired.put(2) }
            wrong.start(at: Self.now + 20)
            #expect(try await fired.next() == 2)
            wrong.start(at: Self.now + 3_600_000)
            wrong.stop()
        }
        timer.stop()
        #expect(fired.isEmpty)
    }
}
