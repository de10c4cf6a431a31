import CBellwire
import Glibc
import Hosting

// What the library asks its host: in dispatch, in turn with all else that waits.
extension HostQueue {
    /// Registers who answers the questions of one kind, in the place of who did before; `nil` = nobody. Questions that
    /// wait go to the new one.
    ///
    /// The user data of the one before is released when its callback does not run, as with ``unsubscribe(_:)``.
    func setHook(_ hook: HostHook, _ callback: HookCallback?, _ userData: UserData) throws(HostError) {
        let me = pthread_self()
        let (before, unanswered) = try state.update { (state) throws(HostError) -> (Hook?, [HostQuestion]) in
            guard state.phase == .open else { throw .closed }
            var before: Hook?
            if let index = state.hooks.firstIndex(where: { $0.hook == hook }) { before = state.hooks.remove(at: index) }
            if let callback {
                state.hooks.append(
                    Hook(number: state.nextNumber, hook: hook, callback: callback, userData: userData))
                state.nextNumber &+= 1
            }
            let unanswered = callback == nil ? state.takeQuestions(for: hook) : []
            guard let own = before, state.running == own.number, state.dispatcher == me else {
                return (before, unanswered)
            }
            state.ended.append(own.userData)
            return (nil, unanswered)
        }
        for question in unanswered { question.answer(nil) }
        guard let before else { return }
        state.wait { $0.running == before.number ? nil : () }
        before.userData.release()
    }

    /// Puts a question in its place in the queue. One that nobody would answer is answered at once.
    func ask(_ question: HostQuestion) {
        let isTaken = state.update { state -> Bool in
            guard state.phase == .open, state.questions < HostQueue.questionLimit,
                state.hooks.contains(where: { $0.hook == question.hook })
            else { return false }
            state.items.append(.question(question))
            state.questions += 1
            return true
        }
        guard isTaken else { return question.answer(nil) }
        wake()
    }
}

extension HostQueue.State {
    /// Takes the questions out that nobody will be asked any more.
    fileprivate mutating func takeQuestions(for hook: HostHook) -> [HostQuestion] {
        var taken: [HostQuestion] = []
        items.removeAll { item in
            guard case .question(let question) = item, question.hook == hook else { return false }
            taken.append(question)
            return true
        }
        questions -= taken.count
        return taken
    }
}
