import Store
import Transport

extension Database {
    /// ``submit(_:then:)`` whose outcome comes back to the event loop.
    func perform<T: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        then: @escaping @Sendable @EventLoop (Result<T, StoreError>) -> Void
    ) {
        submit(work) { result in EventLoop.post { then(result) } }
    }
}
