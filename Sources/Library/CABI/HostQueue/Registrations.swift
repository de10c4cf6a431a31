import CBellwire
import Glibc
import Hosting

/// The host's callbacks for one handle: subscriptions, and the hooks that answer questions.
///
/// A pure value. User data that leaves it is the caller's to release, outside of any lock.
struct Registrations {
    struct Subscription {
        let number: bw_subscription
        /// `nil` = all.
        let name: HostEvent.Name?
        let callback: bw_event_callback
        let userData: UserData
    }

    /// Takes a question's text and returns the answer. Runs in dispatch.
    typealias HookCallback = @Sendable (UnsafeMutableRawPointer?, UnsafePointer<CChar>) -> Int32

    /// Answers the questions of one kind.
    struct Hook {
        let number: bw_subscription
        let hook: HostHook
        let callback: HookCallback
        let userData: UserData
    }

    /// In the order in which they were made: with rising numbers.
    private var subscriptions: [Subscription] = []
    private(set) var hooks: [Hook] = []
    private var nextNumber: UInt64 = 1
    /// The subscription, or the hook, whose callback is running now.
    private(set) var running: bw_subscription?
    /// Ended inside its own callback: released when that has returned.
    private var ended: [UserData] = []

    mutating func takeNumber() -> UInt64 {
        defer { nextNumber &+= 1 }
        return nextNumber
    }

    // MARK: Registering

    mutating func subscribe(
        _ name: HostEvent.Name?, _ callback: @escaping bw_event_callback, _ userData: UserData
    ) -> bw_subscription {
        let number = takeNumber()
        subscriptions.append(Subscription(number: number, name: name, callback: callback, userData: userData))
        return number
    }

    /// The user data to release, once its callback is not running; `nil` = there is no such subscription.
    mutating func unsubscribe(_ number: bw_subscription) -> UserData? {
        guard let place = place(of: number) else { return nil }
        return subscriptions.remove(at: place).userData
    }

    /// Registers `callback` and returns the previous hook. `nil` = there is no callback any more.
    mutating func setHook(_ hook: HostHook, _ callback: HookCallback?, _ userData: UserData) -> Hook? {
        var before: Hook?
        if let index = hooks.firstIndex(where: { $0.hook == hook }) { before = hooks.remove(at: index) }
        if let callback {
            hooks.append(Hook(number: takeNumber(), hook: hook, callback: callback, userData: userData))
        }
        return before
    }

    // MARK: Calling

    /// Whether a subscription takes events of that name.
    func wants(_ name: HostEvent.Name) -> Bool { subscriptions.contains { $0.name == nil || $0.name == name } }

    func answers(_ hook: HostHook) -> Bool { hooks.contains { $0.hook == hook } }

    /// In the order in which they were made.
    func numbers(for name: HostEvent.Name) -> [bw_subscription] {
        subscriptions.lazy.filter { $0.name == nil || $0.name == name }.map(\.number)
    }

    /// `nil` = it has ended in the meantime.
    mutating func begin(_ number: bw_subscription) -> Subscription? {
        guard let place = place(of: number) else { return nil }
        running = number
        return subscriptions[place]
    }

    /// `nil` = there is no callback.
    mutating func begin(_ hook: HostHook) -> Hook? {
        guard let hook = hooks.first(where: { $0.hook == hook }) else { return nil }
        running = hook.number
        return hook
    }

    /// The user data to release now that the callback has returned.
    mutating func callbackReturned() -> [UserData] {
        running = nil
        return takeEnded()
    }

    /// Keeps user data until the running callback has returned.
    mutating func keepUntilReturn(_ userData: UserData) { ended.append(userData) }

    mutating func takeEnded() -> [UserData] {
        defer { ended = [] }
        return ended
    }

    /// Ends every registration. Returns the user data to release now; that of the running callback is released when it
    /// returns.
    mutating func removeAll() -> [UserData] {
        let all = subscriptions.map { ($0.number, $0.userData) } + hooks.map { ($0.number, $0.userData) }
        (subscriptions, hooks) = ([], [])
        for (number, userData) in all where number == running { ended.append(userData) }
        return all.filter { [running] in $0.0 != running }.map(\.1)
    }

    /// Thousands may be asked for, one after the other, so no look at each.
    private func place(of number: bw_subscription) -> Int? {
        var (low, high) = (0, subscriptions.count)
        while low < high {
            let middle = low + (high - low) / 2
            if subscriptions[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < subscriptions.count && subscriptions[low].number == number ? low : nil
    }
}
