/// The calls of a listener to its owner. All calls come on the event loop.
@EventLoop
package protocol HTTPHandler: AnyObject {
    /// A request's head is whole. Answer at once; `.upgrade` to a request that asks for none becomes a 426.
    func listener(
        _ listener: HTTPListener, didReceive head: HTTPRequestHead, from remote: PeerAddress
    ) -> HTTPAnswer

    /// An upgrade succeeded. Set the socket's delegate here: a message may follow at once.
    func listener(_ listener: HTTPListener, didOpen webSocket: WebSocket)

    /// Newcomers wait in the backlog: the process is out of descriptors (``TransportError/Code/outOfFiles``, tried again
    /// each second), or ``HTTPListenerOptions/maximumConnections`` is reached (``TransportError/Code/full``). Said once
    /// until ``listenerDidRecover(_:)``.
    func listener(_ listener: HTTPListener, cannotAccept error: TransportError)

    /// Accepting works again.
    func listenerDidRecover(_ listener: HTTPListener)
}

extension HTTPHandler {
    package func listener(_ listener: HTTPListener, cannotAccept error: TransportError) {}
    package func listenerDidRecover(_ listener: HTTPListener) {}
}
