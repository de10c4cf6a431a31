import CBellwire
import CLinux
import Glibc
import Hosting

// What the library asks its host: in dispatch, in turn with all else that waits.
extension HostQueue {
    /// Registers the callback that answers one kind of question, and replaces the previous one; `nil` = none. The new
    /// callback also gets the waiting questions.
    ///
    /// The user data of the one before is released when its callback does not run, as with ``unsubscribe(_:)``.
    func setHook(_ hook: HostHook, _ callback: HookCallback?, _ userData: UserData) throws(HostError) {
        recover(at: linux_stack())
        let me = pthread_self()
        let (before, unanswered) = try state.update {
            (state) throws(HostError) -> (Registrations.Hook?, [HostQuestion]) in
            guard state.phase == .open else { throw .closed }
            let before = state.registrations.setHook(hook, callback, userData)
            let unanswered = callback == nil ? state.buffer.takeQuestions(for: hook) : []
            guard let before, state.registrations.running == before.number, state.dispatcher?.thread == me else {
                return (before, unanswered)
            }
            state.registrations.keepUntilReturn(before.userData)
            return (nil, unanswered)
        }
        for question in unanswered { question.answer(nil) }
        guard let before else { return }
        state.wait(checking: recoverFromEndedThread) { $0.registrations.running == before.number ? nil : () }
        before.userData.release()
    }

    /// Puts a question into the queue, in order. Without a callback to answer it, it is answered at once.
    func ask(_ question: HostQuestion) {
        let isTaken = state.update { state -> Bool in
            guard state.phase == .open, state.buffer.questions < HostQueue.questionLimit,
                state.registrations.answers(question.hook)
            else { return false }
            state.buffer.append(question)
            return true
        }
        guard isTaken else { return question.answer(nil) }
        wake()
    }
}
