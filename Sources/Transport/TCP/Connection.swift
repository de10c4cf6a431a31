/// One TCP connection, with or without TLS.
@EventLoop
final class Connection {
    func flush() {}
}
