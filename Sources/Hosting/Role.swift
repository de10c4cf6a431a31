import JSON

/// What the C interface needs of every role.
package protocol Role: AnyObject, Sendable {
    /// The pushes that its host has still to take; `nil` for a role that has none.
    var pushes: (any PushSource)? { get }

    /// Ends everything for good: connections, calls under way, the database. `then` is called once, on any thread.
    func shutDown(then: @escaping @Sendable () -> Void)
}

/// What a role tells its host. From any thread, without waiting.
package struct HostChannel: Sendable {
    package let post: @Sendable (HostEvent) -> Void
    /// There are pushes in the store that the host has not taken.
    package let pushesWait: @Sendable () -> Void
    package let log: Log

    package init(
        post: @escaping @Sendable (HostEvent) -> Void, pushesWait: @escaping @Sendable () -> Void, log: @escaping Log
    ) {
        self.post = post
        self.pushesWait = pushesWait
        self.log = log
    }

    /// Posts a `problem` and logs it.
    package func problem(_ code: String, _ message: String) {
        log(.warning, message)
        post(HostEvent(.problem, data: ["code": .string(code), "message": .string(message)]))
    }
}

/// Takes what a call came to, JSON or an error; called exactly once, on any thread.
package typealias Then = @Sendable (Result<String, HostError>) -> Void
