import Alerts
import Store
import Testing

extension Database {
    /// Does a piece of work in which expectations may throw whatever they like.
    func expect(_ body: @escaping @Sendable (Connection) throws -> Void) throws {
        try run { (connection) throws(StoreError) in
            do { try body(connection) } catch let error as StoreError { throw error } catch { Issue.record(error) }
        }
    }
}
