import Hosting

/// The events that wait for the host of one handle, in order.
///
/// A pure value. Every operation but an overflow takes constant time, however much waits.
struct EventBuffer {
    enum Item {
        case event(HostEvent)
        case completion(Completion, Result<HostReply, HostError>)
        case question(HostQuestion)
        /// The source of that name has events in the store. At most one of these waits for each.
        case stored(HostEvent.Name)
    }

    /// Events that may wait; completions and questions have limits of their own.
    static let eventLimit = 1_024
    /// Problems that are kept for a subscription that is still to come.
    static let unheardLimit = 16

    /// A newer state event replaces a waiting one with the same key.
    private struct StateKey: Hashable {
        let name: HostEvent.Name
        let desktop: String?
    }

    /// `nil` = taken, replaced or dropped.
    private var slots: [Item?] = []
    /// The place of `slots[0]`. Places count up and are never used twice.
    private var base = 0
    /// Everything before this place is gone.
    private var head = 0
    private var states: [StateKey: Int] = [:]
    private var stored: Set<HostEvent.Name> = []
    private(set) var events = 0
    private(set) var completions = 0
    private(set) var questions = 0
    /// Events dropped by overflows since the last report.
    private var dropped = 0
    /// Problems without a subscriber at the time: opening reports a failure before the program can subscribe.
    private var unheard: [HostEvent] = []

    var isEmpty: Bool { events + completions + questions + stored.count == 0 }

    /// The place of the next item: what waits now lies before it.
    var end: Int { base + slots.count }

    // MARK: In

    /// Appends an event. A state event replaces the one before it; beyond ``eventLimit`` the oldest event that is no state
    /// is dropped, else the oldest state.
    mutating func append(_ event: HostEvent) {
        if event.name.isState {
            let key = StateKey(name: event.name, desktop: event.desktop)
            if let place = states[key] { _ = take(at: place) }
        }
        push(.event(event))
        if events > Self.eventLimit { dropOldest() }
    }

    mutating func append(_ completion: Completion, _ outcome: Result<HostReply, HostError>) {
        push(.completion(completion, outcome))
    }

    mutating func append(_ question: HostQuestion) {
        push(.question(question))
    }

    /// Does nothing if one already waits for this source.
    mutating func append(stored name: HostEvent.Name) {
        if !stored.contains(name) { push(.stored(name)) }
    }

    mutating func keepUnheard(_ problem: HostEvent) {
        if unheard.count < Self.unheardLimit { unheard.append(problem) }
    }

    /// Puts the unheard problems before everything that waits.
    mutating func replayUnheard() {
        guard !unheard.isEmpty else { return }
        var items: [Item] = []
        while let item = take(before: end) { items.append(item) }
        for item in unheard.map(Item.event) + items { push(item) }
        unheard = []
    }

    private mutating func push(_ item: Item) {
        switch item {
        case .event(let event):
            if event.name.isState { states[StateKey(name: event.name, desktop: event.desktop)] = end }
            events += 1
        case .completion: completions += 1
        case .question: questions += 1
        case .stored(let name): stored.insert(name)
        }
        slots.append(item)
    }

    // MARK: Out

    /// The oldest item, if it lies before that place.
    mutating func take(before place: Int) -> Item? {
        while head < min(place, end) {
            defer { head += 1 }
            if let item = take(at: head) {
                trim()
                return item
            }
        }
        return nil
    }

    /// How many events were dropped since the last call.
    mutating func takeDropped() -> Int {
        defer { dropped = 0 }
        return dropped
    }

    mutating func takeQuestions(for hook: HostHook) -> [HostQuestion] {
        var taken: [HostQuestion] = []
        for place in head..<end {
            guard case .question(let question)? = slots[place - base], question.hook == hook else { continue }
            _ = take(at: place)
            taken.append(question)
        }
        return taken
    }

    /// Takes everything that waits; afterwards the buffer is empty, except for unreported problems and drops.
    mutating func takeAll() -> [Item] {
        var items: [Item] = []
        while let item = take(before: end) { items.append(item) }
        unheard = []
        return items
    }

    // MARK: Places

    private mutating func take(at place: Int) -> Item? {
        guard place >= max(base, head), place < end, let item = slots[place - base] else { return nil }
        slots[place - base] = nil
        switch item {
        case .event(let event):
            events -= 1
            let key = StateKey(name: event.name, desktop: event.desktop)
            if event.name.isState, states[key] == place { states[key] = nil }
        case .completion: completions -= 1
        case .question: questions -= 1
        case .stored(let name): stored.remove(name)
        }
        return item
    }

    /// From time to time frees the memory of taken events.
    private mutating func trim() {
        let gone = head - base
        guard gone >= 64, gone * 2 >= slots.count else { return }
        slots.removeFirst(gone)
        base = head
    }

    private mutating func dropOldest() {
        var oldestState: Int?
        var victim: Int?
        for place in head..<end {
            guard case .event(let event)? = slots[place - base] else { continue }
            if !event.name.isState {
                victim = place
                break
            }
            oldestState = oldestState ?? place
        }
        guard let place = victim ?? oldestState, take(at: place) != nil else { return }
        dropped += 1
    }
}
