import CLinux
import Glibc
import Hosting

/// A callback that is running: how to tell that it will never return.
struct CallbackCall {
    /// The stack of the dispatch that made the call; whatever the callback calls lies below it.
    let frame: UInt
    let thread = linux_thread()
    /// What it is to answer.
    let question: Asked?

    /// Apart, so that the queue's state stays small.
    final class Asked: Sendable {
        let question: HostQuestion

        init(_ question: HostQuestion) { self.question = question }
    }
}

extension HostQueue {
    /// Ends a dispatch whose callback never returns: a C++ exception or `longjmp` has left it, or its thread has ended.
    ///
    /// The caller's `frame` tells: code that the callback has called lies below its dispatch on the stack. So a dispatch
    /// from the place of the first one, or from one that is less deep, finds the handle free again. What the callback was
    /// called with counts as handed over; its question is answered as if there were no callback; and what was to be
    /// released when it returned is released.
    func recover(at frame: UInt) {
        let left = state.update { state -> (ended: [UserData], question: CallbackCall.Asked?)? in
            guard state.dispatcher != nil, let call = state.call else { return nil }
            let isGone = call.thread == linux_thread() ? frame >= call.frame : linux_thread_exists(call.thread) == 0
            guard isGone else { return nil }
            (state.dispatcher, state.call) = (nil, nil)
            state.sources.abandoned()
            state.enqueueStored()
            return (state.registrations.callbackReturned(), call.question)
        }
        guard let left else { return }
        left.question?.question.answer(nil)
        for userData in left.ended { userData.release() }
        wake()
    }
}
