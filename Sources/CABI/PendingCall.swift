import CBellwire
import Hosting

/// One call under way: either a thread waits for it, or a completion will be called.
final class PendingCall: Sendable {
    private enum State {
        case open
        case done(Outcome)
    }

    private let state = Monitor(State.open)
    private let completion: Completion?
    private let whenDone: @Sendable (Completion?, Outcome) -> Void

    init(_ completion: Completion?, whenDone: @escaping @Sendable (Completion?, Outcome) -> Void) {
        self.completion = completion
        self.whenDone = whenDone
    }

    /// The first outcome counts.
    func resolve(_ outcome: Outcome) {
        guard settle(outcome) else { return }
        whenDone(completion, outcome)
    }

    func wait() -> Outcome {
        state.wait { state in
            if case .done(let outcome) = state { outcome } else { nil }
        }
    }

    /// Lets the thread go that waits, if one does.
    func failWaiting() { if completion == nil { resolve(.failure(.closed)) } }

    /// Calls the completion on this, the closing, thread.
    func failOnClose() {
        let outcome = Outcome.failure(.closed)
        if settle(outcome) { completion?.call(outcome) }
    }

    private func settle(_ outcome: Outcome) -> Bool {
        state.update { state in
            guard case .open = state else { return false }
            state = .done(outcome)
            return true
        }
    }
}

extension HostQueue {
    /// Calls that may be under way for one handle.
    static let callLimit = 1_024

    /// Starts something and waits for its outcome.
    func call(_ start: (@escaping @Sendable (Outcome) -> Void) -> Void) throws(HostError) -> String {
        try requireHostThread()
        let call = try register(nil)
        start { call.resolve($0) }
        return try call.wait().get()
    }

    /// Starts something whose outcome goes to `completion`, in dispatch.
    func call(_ completion: Completion, _ start: (@escaping @Sendable (Outcome) -> Void) -> Void) throws(HostError) {
        let call = try register(completion)
        start { call.resolve($0) }
    }

    private func register(_ completion: Completion?) throws(HostError) -> PendingCall {
        try state.update { (state) throws(HostError) -> PendingCall in
            guard state.phase == .open else { throw .closed }
            guard state.calls.count < HostQueue.callLimit else {
                throw HostError(.limit, "\(HostQueue.callLimit) calls are under way; wait for some to end")
            }
            let number = state.nextNumber
            state.nextNumber &+= 1
            let call = PendingCall(completion) { [weak self] completion, outcome in
                guard let self else { return }
                self.state.update { state in
                    guard state.calls.removeValue(forKey: number) != nil, let completion else { return }
                    state.items.append(.completion(completion, outcome))
                }
                self.wake()
            }
            state.calls[number] = call
            return call
        }
    }
}
