import CUV
import Glibc

/// Starts a detached thread that blocks every signal, so that the host's handlers run on the host's threads and a write
/// to a closed socket raises no SIGPIPE. Returns 0 or an `errno` value.
package func startThread(named name: StaticString, _ body: @escaping @Sendable () -> Void) -> CInt {
    final class Body: Sendable {
        let name: StaticString
        let run: @Sendable () -> Void

        init(_ name: StaticString, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    var everySignal = sigset_t()
    var before = sigset_t()
    sigfillset(&everySignal)
    // A thread begins with its creator's mask: block here, so that not one signal can come in between.
    pthread_sigmask(SIG_SETMASK, &everySignal, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    var thread = pthread_t()
    let context = Unmanaged.passRetained(Body(name, body)).toOpaque()
    let result = pthread_create(
        &thread, nil,
        { context in
            guard let context else { return nil }
            let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
            body.name.withUTF8Buffer { name in
                UnsafeRawPointer(name.baseAddress).map { bw_thread_set_name($0.assumingMemoryBound(to: CChar.self)) }
            }
            body.run()
            return nil
        }, context)
    if result == 0 {
        pthread_detach(thread)
    } else {
        Unmanaged<Body>.fromOpaque(context).release()
    }
    return result
}
