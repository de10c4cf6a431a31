import CLinux
import Glibc
import Hosting

/// The thread inside `dispatch`. Its number in the kernel tells whether it still lives; asking for that is a system call.
struct Dispatcher {
    let thread = pthread_self()
    let number = linux_thread()

    /// Whether a callback that it made from `call` will never return, as seen from `frame` on the calling thread:
    /// ``HostQueue/recover(at:)``.
    func hasLeft(_ call: UInt, at frame: UInt) -> Bool {
        let isOwn = thread == pthread_self() && number == linux_thread()
        return isOwn
            ? frame >= call && linux_is_thread_stack(frame) && linux_is_thread_stack(call)
            : linux_thread_exists(number) == 0
    }
}

/// A callback that is running: how to tell that it will never return.
struct CallbackCall {
    /// The stack of the dispatch that made the call; whatever the callback calls lies below it.
    let frame: UInt
    /// What it is to answer.
    let question: Asked?

    /// Apart, so that the queue's state stays small.
    final class Asked: Sendable {
        let question: HostQuestion

        init(_ question: HostQuestion) { self.question = question }
    }
}

extension HostQueue {
    /// Ends a dispatch whose callback never returns: it was left by a C++ exception or `longjmp`, or its thread ended.
    ///
    /// Whatever a callback calls lies below its dispatch on the stack. If the same thread dispatches from the same depth
    /// or above, the first dispatch is gone. Only addresses within one stack can be compared: a fiber may be anywhere, and
    /// its callback may continue later, so both frames must be in the stack that the thread was started with.
    ///
    /// What the callback was called with counts as handed over, and its question is answered as if there were no
    /// callback. User data that was to be released at its return is released.
    func recover(at frame: UInt) {
        let left = state.update { state -> (ended: [UserData], question: CallbackCall.Asked?)? in
            guard let dispatcher = state.dispatcher, let call = state.call, dispatcher.hasLeft(call.frame, at: frame)
            else { return nil }
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

    /// For a thread that waits for a callback on another thread: the callback may end that thread without notice.
    func recoverFromEndedThread() { recover(at: 0) }
}
