import Transport

/// The pushes to one device with callers that wait for its acknowledgement, in the order of their numbers.
struct PendingDeliveries: Sendable {
    private struct Entry: Sendable {
        var seq: Int64
        let ticket: PushTicket
    }

    private var entries = FIFO<Entry>()

    mutating func append(_ ticket: PushTicket, numbered seq: Int64) {
        entries.append(Entry(seq: seq, ticket: ticket))
    }

    /// The device has everything through this number: those that waited for that.
    mutating func settle(through seq: Int64) -> [PushTicket] {
        var settled: [PushTicket] = []
        while let first = entries.first, first.seq <= seq, let entry = entries.removeFirst() {
            settled.append(entry.ticket)
        }
        return settled
    }

    /// The number of a push that is not waited for any longer; `nil` = it was settled before.
    mutating func remove(_ ticket: PushTicket) -> Int64? { entries.remove { $0.ticket == ticket }?.seq }

    /// The device is not there, or no longer paired.
    mutating func takeAll() -> [PushTicket] { settle(through: .max) }

    /// Everything that waits for the device has got other numbers.
    mutating func shift(by shift: Int64) { entries.mutateEach { $0.seq &+= shift } }
}
