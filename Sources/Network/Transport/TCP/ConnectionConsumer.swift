/// The receiver of a connection's bytes. The connection holds it until it is closed or handed on.
@EventLoop
protocol ConnectionConsumer: AnyObject {
    /// The TLS handshake succeeded. Not called without TLS.
    func connectionDidSecure(_ connection: Connection)

    /// Bytes came in, decrypted. They may be changed in place, and are borrowed for the call.
    func connection(_ connection: Connection, didReceive bytes: UnsafeMutableRawBufferPointer)

    /// The peer ended it (`nil`) or it failed. Once, and never after `close()` or `finish()`. The connection still has to
    /// be closed.
    func connectionDidEnd(_ connection: Connection, _ error: TransportError?)
}
