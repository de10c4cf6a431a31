import CBellwire
import Hosting

/// One call in progress: either a thread waits for it, or a completion will be called.
///
/// Whether it is still open is for the queue to say (``HostQueue/State/calls``): who takes it out of there ends it.
final class PendingCall: Sendable {
    let completion: Completion?
    private let outcome = Monitor(Result<HostReply, HostError>?.none)

    init(_ completion: Completion?) { self.completion = completion }

    /// Lets the thread go that waits.
    func answer(_ outcome: Result<HostReply, HostError>) { self.outcome.update { $0 = outcome } }

    func wait() -> Result<HostReply, HostError> { outcome.wait { $0 } }
}

extension HostQueue {
    /// Maximum calls in progress per handle, including those whose completions wait to be dispatched.
    static let callLimit = 1_024

    /// Starts something and waits for its outcome.
    func call(_ start: (@escaping Then) -> Void) throws(HostError) -> HostReply {
        try requireHostThread()
        let (number, call) = try register(nil)
        start { [weak self] in self?.resolve(number, $0) }
        return try call.wait().get()
    }

    /// Starts something whose outcome goes to `completion`, in dispatch.
    func call(_ completion: Completion, _ start: (@escaping Then) -> Void) throws(HostError) {
        let (number, _) = try register(completion)
        start { [weak self] in self?.resolve(number, $0) }
    }

    private func register(_ completion: Completion?) throws(HostError) -> (number: UInt64, call: PendingCall) {
        try state.update { (state) throws(HostError) in
            guard state.phase == .open else { throw .closed }
            let waiting = completion == nil ? 0 : state.buffer.completions
            guard state.calls.count + waiting < HostQueue.callLimit else {
                throw HostError(
                    .limit,
                    "\(HostQueue.callLimit) calls are in progress; wait for some to finish and dispatch their completions"
                )
            }
            let number = state.registrations.takeNumber()
            let call = PendingCall(completion)
            state.calls[number] = call
            return (number, call)
        }
    }

    /// The first outcome counts; after a close that is the only one.
    private func resolve(_ number: UInt64, _ outcome: Result<HostReply, HostError>) {
        let waiting = state.update { state in state.end(number, outcome) }
        waiting?.answer(outcome)
        if waiting == nil { wake() }
    }
}

extension HostQueue.State {
    /// Ends a call: its completion is queued. Gives the call if it is a thread that waits for the outcome.
    mutating func end(_ number: UInt64, _ outcome: Result<HostReply, HostError>) -> PendingCall? {
        guard let call = calls.removeValue(forKey: number) else { return nil }
        guard let completion = call.completion else { return call }
        buffer.append(completion, outcome)
        return nil
    }
}
