import Transport

/// Banners for the specification's server that it doesn't show yet: sent in the order that ``BannerQueue`` decides.
@EventLoop
final class PendingBanners {
    private let send: @EventLoop (WaitingBanner, BannerQueue.Ticket) -> Void
    private let makeRoom: @EventLoop () -> Void
    private var queue = BannerQueue()
    private var banners: [BannerQueue.Ticket: WaitingBanner] = [:]
    private var lastTicket: BannerQueue.Ticket = 0
    private lazy var timer = LoopTimer { [weak self] in
        guard let self else { return }
        perform(queue.deadlineReached(now: EventLoop.now))
    }

    /// - Parameters:
    ///   - send: calls the server, then ``answered(_:isFull:waitsAgain:)``.
    ///   - makeRoom: closes the oldest ordinary banner.
    init(
        send: @escaping @EventLoop (WaitingBanner, BannerQueue.Ticket) -> Void,
        makeRoom: @escaping @EventLoop () -> Void
    ) {
        (self.send, self.makeRoom) = (send, makeRoom)
    }

    func add(_ waiting: WaitingBanner) {
        dropUnwanted()
        waiting.waitsWithoutLimit()
        lastTicket &+= 1
        banners[lastTicket] = waiting
        perform(queue.add(lastTicket, isCritical: !waiting.banner.isOrdinary, now: EventLoop.now))
    }

    func answered(_ ticket: BannerQueue.Ticket, isFull: Bool, waitsAgain: Bool) {
        if !waitsAgain { banners[ticket] = nil }
        perform(queue.answered(ticket, isFull: isFull, waitsAgain: waitsAgain, now: EventLoop.now))
    }

    /// A banner of the server has ended.
    func placeFreed() { perform(queue.placeFreed(now: EventLoop.now)) }

    func serverChanged() { queue.serverChanged() }

    /// Takes out the banners that were not sent: their server is gone.
    func takeAll() -> [WaitingBanner] {
        timer.stop()
        return queue.removeAll().compactMap { banners.removeValue(forKey: $0) }
    }

    /// Banners that were withdrawn while they waited must not pile up at a full server.
    private func dropUnwanted() {
        for (ticket, waiting) in banners where !waiting.isSent && !waiting.isWanted() {
            banners[ticket] = nil
            queue.remove(ticket)
            waiting.drop()
        }
    }

    private func perform(_ actions: [BannerQueue.Action]) {
        for action in actions {
            switch action {
            case .send(let ticket):
                if let waiting = banners[ticket], waiting.isWaiting, waiting.isWanted() {
                    send(waiting, ticket)
                } else {
                    banners[ticket]?.drop()
                    answered(ticket, isFull: false, waitsAgain: false)
                }
            case .makeRoom: makeRoom()
            }
        }
        guard let deadline = queue.deadline else { return timer.stop() }
        let now = EventLoop.now
        timer.start(after: deadline > now ? deadline - now : 0)
    }
}
