import Glibc
import Testing

@testable import Store

/// Holds threads back until it is opened.
final class Gate: Sendable {
    private let answer = Answer<Void>()

    func open() { answer.give(()) }
    func wait() { answer.wait() }
}

/// A plain thread.
final class Thread {
    private var handle = pthread_t()

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    init(_ run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(run))
        pthread_create(
            &handle, nil,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, body.toOpaque())
    }

    func join() { pthread_join(handle, nil) }
}
