import Inbox
import Notifications
import Store
import Wire

extension Inbox {
    /// Hands over the oldest that wait, as a dispatch does whose callbacks all return.
    func handOver(limit: Int) throws(StoreError) -> [Entry] {
        let entries = try handover.waitingForHost(limit: limit, after: 0)
        guard let last = entries.last?.arrival else { return [] }
        try handover.offer(through: last)
        try handover.finish(through: last, offering: last)
        return entries
    }
}
