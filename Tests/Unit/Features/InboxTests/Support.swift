import Inbox
import Notifications
import Store
import Wire

extension Inbox {
    /// Pushes that wait for the host, in order of arrival.
    func waiting(limit: Int, after arrival: Int64 = 0) throws(StoreError) -> [Entry] {
        try pushes(after: max(arrival, try handover.watermarks().handed), limit: limit)
    }

    /// Hands over the oldest that wait, as a dispatch does whose callbacks all return.
    func handOver(limit: Int) throws(StoreError) -> [Entry] {
        let entries = try waiting(limit: limit)
        guard let last = entries.last?.arrival else { return [] }
        try handover.offer(through: last)
        try handover.finish(through: last, offering: last)
        return entries
    }
}
