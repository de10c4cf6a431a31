package import Transport

/// The extension points through which RelayService adds to the library's relay.
@EventLoop
package struct RelayHooks {
    package var gate: (any RelayGate)?
    package var proxies: (any ProxyRule)?
    package var archive: (any FrameArchive)?
    package var cluster: (any RelayCluster)?
    /// What the archive had, in its order.
    package var archived: [ArchivedFrame] = []
    package var reusesPort = false
    /// A socket that listens already; the address in the options is not used then.
    package var descriptor: CInt?

    package init() {}
}

/// Decides who may connect.
@EventLoop
package protocol RelayGate: AnyObject {
    /// The answer to a request that is refused; `nil` = it may go on.
    func refusal(of head: HTTPRequestHead, from remote: PeerAddress) -> HTTPAnswer?

    /// The request just permitted became this socket.
    func didOpen(_ webSocket: WebSocket)

    func didClose(_ webSocket: WebSocket)
}

/// Keeps stored frames beyond the process.
@EventLoop
package protocol FrameArchive: AnyObject {
    /// Called in the order of the changes. Nothing waits for it.
    func keep(_ changes: [ArchiveChange])
}
