// Run by Tests/sanitize.sh thread before the tests: eight threads count under a Mutex that is always contended, which
// must not be reported, or without one ("race"), which must be. So mutexes.c adds what ThreadSanitizer can't see, and
// hides nothing.
import Glibc
import Synchronization

final class Counter: Sendable {
    let lock = Mutex(())
    nonisolated(unsafe) var count = 0
}

// No globals: threads would compete for making them.
func locked(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let counter = Unmanaged<Counter>.fromOpaque(context).takeUnretainedValue()
    for _ in 0..<5_000 { counter.lock.withLock { _ in counter.count += 1 } }
    return nil
}

func unlocked(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let counter = Unmanaged<Counter>.fromOpaque(context).takeUnretainedValue()
    for _ in 0..<5_000 { counter.count += 1 }
    return nil
}

@main
struct Control {
    static func main() {
        let context = Unmanaged.passRetained(Counter()).toOpaque()
        let races = CommandLine.arguments.contains("race")
        var threads = [pthread_t](repeating: pthread_t(), count: 8)
        for index in threads.indices {
            if races {
                pthread_create(&threads[index], nil, unlocked, context)
            } else {
                pthread_create(&threads[index], nil, locked, context)
            }
        }
        for thread in threads { pthread_join(thread, nil) }
    }
}
