import Store
import Transport

extension Database {
    /// ``submit(_:then:)`` with the outcome delivered on the event loop.
    func perform<T: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        then: @escaping @Sendable @EventLoop (Result<T, StoreError>) -> Void
    ) {
        submit(work) { result in EventLoop.post { then(result) } }
    }
}
