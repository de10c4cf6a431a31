import CWslay

extension WebSocket {
    enum Control { case ping, pong }

    /// Sends one text message with the other messages of this wake-up. `false` = not open, nothing was taken.
    @discardableResult
    package func send(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { send(UnsafeRawBufferPointer($0)) }
    }

    /// Sends one text message of valid UTF-8; the bytes are copied before it returns.
    @discardableResult
    package func send(_ text: UnsafeRawBufferPointer) -> Bool {
        withUnsafePointer(to: text) { send(pieces: UnsafeBufferPointer(start: $0, count: 1)) }
    }

    /// Sends one text message out of several pieces, in order, without putting them together first.
    @discardableResult
    package func send(pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Bool {
        guard case .open(let connection) = state else { return false }
        encoder.text(pieces, into: &connection.out)
        connection.didWrite()
        if connection.out.count > options.maximumUnsent || connection.isWriting { limitBacklog(connection) }
        return true
    }

    /// Calls `then` once everything sent so far is with the kernel (`true`), or the connection ended before (`false`).
    package func whenDrained(_ then: @escaping @EventLoop (Bool) -> Void) {
        guard let connection else { return EventLoop.later { then(false) } }
        connection.whenDrained(then)
    }

    private func limitBacklog(_ connection: Connection) {
        guard connection.unsentBytes > options.maximumUnsent else { return }
        // The kernel may have room that was not tried yet in this wake-up.
        connection.flush()
        guard connection.unsentBytes > options.maximumUnsent else { return }
        connection.close()
        let error = TransportError(
            .slowReader, "the peer reads too slowly: more than \(options.maximumUnsent) bytes wait for it")
        end(CloseReason(code: nil, error: error, byPeer: false))
    }

    // MARK: Control frames

    func writeControl(_ kind: Control, _ payload: UnsafeRawBufferPointer, on connection: Connection) {
        let opcode =
            switch kind {
            case .ping: WSLAY_PING
            case .pong: WSLAY_PONG
            }
        encoder.control(opcode, payload, into: &connection.out)
        connection.didWrite()
        limitBacklog(connection)
    }

    /// `nil` = a close frame without a code.
    func writeClose(_ code: UInt16?, _ reason: String, on connection: Connection) {
        var payload: [UInt8] = []
        if let code {
            payload = [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)]
            for character in reason {
                // Cut between characters, so that it stays UTF-8.
                guard payload.count + character.utf8.count <= 125 else { break }
                payload.append(contentsOf: character.utf8)
            }
        }
        payload.withUnsafeBytes {
            encoder.control(WSLAY_CONNECTION_CLOSE, $0, into: &connection.out)
        }
        connection.didWrite()
    }
}
