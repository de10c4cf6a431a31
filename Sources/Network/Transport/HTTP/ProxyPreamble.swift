/// Reads the PROXY header of a connection from a trusted proxy, and hands the connection on.
@EventLoop
final class ProxyPreamble: ConnectionConsumer {
    private let listener: HTTPListener
    private var held: [UInt8] = []
    private var deadline: LoopTimer?

    init(_ connection: Connection, listener: HTTPListener) {
        self.listener = listener
        let timer = LoopTimer { listener.abandon(connection) }
        timer.start(after: listener.options.headTimeout)
        deadline = timer
    }

    func connectionDidSecure(_ connection: Connection) {}

    func connectionDidEnd(_ connection: Connection, _ error: TransportError?) { listener.abandon(connection) }

    func connection(_ connection: Connection, didReceive bytes: UnsafeMutableRawBufferPointer) {
        let before = held.count
        held.append(contentsOf: bytes)
        switch held.withUnsafeBytes({ listener.proxies?.header(in: $0) ?? .invalid }) {
        case .needsMore: return
        case .client(let client, let length) where length >= before && length - before <= bytes.count:
            let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[(length - before)...])
            deadline = nil
            listener.identified(connection, as: client ?? connection.remote, rest)
        case .client, .invalid:
            listener.refusedPreambles &+= 1
            listener.abandon(connection)
        }
    }
}
