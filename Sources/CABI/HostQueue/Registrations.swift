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

    private var subscriptions: [bw_subscription: Subscription] = [:]
    /// The subscriptions to each event, and with `nil` those to all, in the order in which they were made: rising numbers.
    private var numbers: [HostEvent.Name?: [bw_subscription]] = [:]
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
        subscriptions[number] = Subscription(number: number, name: name, callback: callback, userData: userData)
        numbers[name, default: []].append(number)
        return number
    }

    /// The user data to release, once its callback is not running; `nil` = there is no such subscription.
    mutating func unsubscribe(_ number: bw_subscription) -> UserData? {
        guard let ended = subscriptions.removeValue(forKey: number) else { return nil }
        // Taken out while it changes, so that it is not copied.
        var left = numbers.removeValue(forKey: ended.name) ?? []
        let place = left.partitioningIndex { $0 >= number }
        if left.indices.contains(place), left[place] == number { left.remove(at: place) }
        if !left.isEmpty { numbers[ended.name] = left }
        return ended.userData
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
    func wants(_ name: HostEvent.Name) -> Bool { numbers[nil] != nil || numbers[name] != nil }

    func answers(_ hook: HostHook) -> Bool { hooks.contains { $0.hook == hook } }

    /// In the order in which they were made.
    func numbers(for name: HostEvent.Name) -> [bw_subscription] {
        guard let all = numbers[nil] else { return numbers[name] ?? [] }
        guard let own = numbers[name] else { return all }
        var merged: [bw_subscription] = []
        merged.reserveCapacity(all.count + own.count)
        var next = 0
        for number in all {
            while next < own.count, own[next] < number {
                merged.append(own[next])
                next += 1
            }
            merged.append(number)
        }
        return merged + own[next...]
    }

    /// `nil` = it has ended in the meantime.
    mutating func begin(_ number: bw_subscription) -> Subscription? {
        guard let subscription = subscriptions[number] else { return nil }
        running = number
        return subscription
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
        let all =
            subscriptions.values.sorted { $0.number < $1.number }.map { ($0.number, $0.userData) }
            + hooks.map { ($0.number, $0.userData) }
        (subscriptions, numbers, hooks) = ([:], [:], [])
        for (number, userData) in all where number == running { ended.append(userData) }
        return all.filter { [running] in $0.0 != running }.map(\.1)
    }
}

extension [bw_subscription] {
    /// The first place at which `isBehind` holds, of a sorted array.
    fileprivate func partitioningIndex(where isBehind: (bw_subscription) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
