package import JSON

/// The interface of a role for the C interface.
package protocol Role: AnyObject, Sendable {
    /// What its store keeps for its host until that has taken it. Always the same ones.
    var sources: [any EventSource] { get }

    /// Ends everything for good: connections, calls under way, the database. `then` is called once, on any thread.
    func shutDown(then: @escaping @Sendable () -> Void)
}

/// A role's interface to its host. From any thread, without waiting.
package struct HostChannel: Sendable {
    package let post: @Sendable (HostEvent) -> Void
    /// There are events in the store that the host has not taken, in the source of that name.
    package let waits: @Sendable (HostEvent.Name) -> Void
    /// Puts a question to the host, in dispatch. Every question gets its answer.
    package let ask: @Sendable (HostQuestion) -> Void
    package let log: Log

    package init(
        post: @escaping @Sendable (HostEvent) -> Void, waits: @escaping @Sendable (HostEvent.Name) -> Void,
        ask: @escaping @Sendable (HostQuestion) -> Void, log: @escaping Log
    ) {
        self.post = post
        self.waits = waits
        self.ask = ask
        self.log = log
    }

    /// There are pushes in the store that the host has not taken.
    package func pushesWait() { waits(.notificationReceived) }

    /// Posts a `problem` and logs it.
    package func problem(_ code: String, _ message: String, _ facts: JSONObject = [:]) {
        log(.warning, message)
        var data: JSONObject = ["code": .string(code), "message": .string(message)]
        data.merge(facts)
        post(HostEvent(.problem, data: data))
    }
}

/// Receives the outcome of a call; called exactly once, on any thread.
package typealias Then = @Sendable (Result<HostReply, HostError>) -> Void
