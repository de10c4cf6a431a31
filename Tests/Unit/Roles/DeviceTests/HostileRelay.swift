import JSON
import TestSupport
import Testing
import Transport

/// A relay that is nobody's friend: it gives every id to whoever asks, carries what it likes, and says what it likes in
/// anybody's name.
@EventLoop
final class HostileRelay: HTTPHandler, WebSocketDelegate {
    /// A `message` on its way.
    struct Letter: Sendable {
        var from: String
        var to: String
        var payload: JSONValue
        var isSealed = true
    }

    /// What becomes of a letter; an honest relay's is `{ [$0] }`.
    private var carry: @EventLoop (Letter) -> [Letter] = { [$0] }
    /// What it has kept for whoever takes an alias.
    private var kept: ((String) -> JSONValue)?
    private let letters = Mailbox<Letter>()
    private var isHoldingHandshakes = false
    private var listener: HTTPListener?
    private var sockets: [ObjectIdentifier: (webSocket: WebSocket, id: String)] = [:]

    init() throws { listener = try HTTPListener(host: "127.0.0.1", port: 0, handler: self) }

    var url: String { "ws://127.0.0.1:\(listener?.port ?? 0)" }

    func carries(_ carry: @escaping @EventLoop (Letter) -> [Letter]) { self.carry = carry }

    /// Handshakes of sessions don't get through: peers of ours stay with version 1 of the seal.
    func holdsHandshakes() { isHoldingHandshakes = true }

    func letsHandshakesThrough() { isHoldingHandshakes = false }

    func keepsForAliases(_ kept: @escaping @Sendable (String) -> JSONValue) { self.kept = kept }

    /// The next letter that it was given like that, taken out; it keeps all that nobody has asked for.
    func letter(
        _ location: SourceLocation = #_sourceLocation, where isWanted: @escaping (Letter) -> Bool = { _ in true }
    ) async throws -> Letter {
        try await letters.take("such a letter", location) { $0.payload["type"] != "bellwire:hs" && isWanted($0) }
    }

    /// All that it was given and nobody has asked for.
    func keptLetters() -> [Letter] { letters.drain() }

    /// Hands over a letter of its own, or an old one again. `storedAt` = as one that was kept.
    func deliver(_ letter: Letter, storedAt: Int64? = nil) {
        var frame: JSONObject = [
            "type": "message", "from": .string(letter.from), "payload": letter.payload, "timestamp": 1,
        ]
        if letter.isSealed { frame["sealed"] = true }
        guard let storedAt else { return say(.object(frame), to: letter.to) }
        say(
            [
                "type": "offline-message", "originalMessage": .object(frame), "storedAt": .integer(storedAt),
                "deliveredAt": .integer(storedAt),
            ], to: letter.to)
    }

    /// Any frame, to whoever has registered that id.
    func say(_ frame: JSONValue, to id: String) {
        for peer in sockets.values where peer.id == id { peer.webSocket.send(frame.serialized()) }
    }

    func close() {
        listener?.close()
        listener = nil
        for peer in sockets.values { peer.webSocket.abort() }
        sockets = [:]
        // Tests name the relay's home in these, which names the relay.
        carry = { [$0] }
        kept = nil
    }

    // MARK: The socket

    func listener(
        _ listener: HTTPListener, didReceive head: HTTPRequestHead, from remote: PeerAddress
    ) -> HTTPAnswer { .upgrade }

    func listener(_ listener: HTTPListener, didOpen webSocket: WebSocket) {
        webSocket.delegate = self
        sockets[ObjectIdentifier(webSocket)] = (webSocket, "")
    }

    func webSocketDidOpen(_ webSocket: WebSocket) {}

    func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {
        guard let frame = try? JSONValue(parsing: text) else { return }
        switch frame["type"]?.string {
        case "register":
            let id = frame["peerId"]?.string ?? ""
            sockets[ObjectIdentifier(webSocket)]?.id = id
            say(["type": "registered", "peerId": .string(id), "serverTime": 1], to: id)
            if id.hasPrefix("pairing-code:"), let kept { say(kept(id), to: id) }
        case "message":
            let letter = Letter(
                from: sockets[ObjectIdentifier(webSocket)]?.id ?? "", to: frame["to"]?.string ?? "",
                payload: frame["payload"] ?? .null, isSealed: frame["sealed"]?.bool ?? false)
            if isHoldingHandshakes, letter.payload["type"] == "bellwire:hs" { return }
            // No letter: a peer asks whether this relay still has it.
            if letter.payload["type"] == "bellwire:probe" { return deliver(letter) }
            // Nor is this one: whether it believes senders. It names them itself.
            if letter.payload["type"] == "bellwire:sender-probe" { return deliver(letter) }
            letters.put(letter)
            for carried in carry(letter) { deliver(carried) }
        default: break
        }
    }

    func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) {
        sockets[ObjectIdentifier(webSocket)] = nil
    }
}
