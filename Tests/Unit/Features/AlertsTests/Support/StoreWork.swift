import Dispatch
import Store
import Testing

extension Database {
    /// Does a piece of work on the thread of the test, so that its expectations know to which test they belong. The
    /// store's thread lends its connection, and waits.
    func expect(_ body: (Connection) throws -> Void) throws {
        let loan = Loan()
        submit { (connection) throws(StoreError) in
            loan.connection = connection
            loan.lent.signal()
            _ = loan.returned.wait(timeout: .now() + 120)
        } then: { _ in
            loan.committed.signal()
        }
        #expect(loan.lent.wait(timeout: .now() + 30) == .success)
        defer {
            loan.connection = nil
            loan.returned.signal()
            #expect(loan.committed.wait(timeout: .now() + 30) == .success)
        }
        try body(try #require(loan.connection))
    }
}

/// The semaphores say whose the connection is.
private final class Loan: @unchecked Sendable {
    let lent = DispatchSemaphore(value: 0)
    let returned = DispatchSemaphore(value: 0)
    let committed = DispatchSemaphore(value: 0)
    var connection: Connection?
}
