/// The alerts in memory, on two ways that don't wait for each other: those whose images are fetched, and those that are
/// being shown.
struct AlertQueue {
    /// Alerts that are being shown.
    static let showLimit = 32
    /// Urgent ones and reminders beyond these, so that they never wait behind alerts that can't be shown.
    static let reserve = 8
    /// Alerts whose images are fetched, or that wait for their turn after that.
    static let imageLimit = 256
    /// Images that the fetcher is asked for at a time.
    static let fetchLimit = 64

    /// By row.
    private var runs: [Int64: AlertRun] = [:]

    var count: Int { runs.count }
    var all: Dictionary<Int64, AlertRun>.Values { runs.values }

    subscript(ticket: AlertRun.Ticket) -> AlertRun? {
        runs[ticket.row].flatMap { $0.ticket == ticket ? $0 : nil }
    }

    func contains(row: Int64) -> Bool { runs[row] != nil }

    mutating func put(_ run: AlertRun) { runs[run.ticket.row] = run }

    /// Changes a run that is still there.
    mutating func change(_ row: Int64, _ change: (inout AlertRun) -> Void) {
        guard var run = runs[row] else { return }
        change(&run)
        runs[row] = run
    }

    mutating func remove(_ row: Int64) { runs[row] = nil }

    /// In the order of showing; `nil` = all.
    func tickets(_ stage: AlertRun.Stage? = nil) -> [AlertRun.Ticket] {
        var tickets: [AlertRun.Ticket] = []
        for run in runs.values where stage == nil || run.stage == stage { tickets.append(run.ticket) }
        return tickets.sorted()
    }

    private func count(_ stage: AlertRun.Stage) -> Int { runs.values.count { $0.stage == stage } }

    /// Whether another one may be shown now.
    func hasRoom(comesFirst: Bool) -> Bool {
        count(.showing) < Self.showLimit + (comesFirst ? Self.reserve : 0)
    }

    var isShowing: Bool { runs.values.contains { $0.stage == .showing } }

    var hasImageRoom: Bool { count(.enriching) + count(.ready) < Self.imageLimit }

    /// The images to fetch next.
    var nextFetches: [AlertRun.Ticket] {
        var room = Self.fetchLimit - runs.values.count { $0.isFetching }
        var next: [AlertRun.Ticket] = []
        for ticket in tickets(.enriching) where room > 0 && self[ticket]?.isFetching == false {
            next.append(ticket)
            room -= 1
        }
        return next
    }
}
