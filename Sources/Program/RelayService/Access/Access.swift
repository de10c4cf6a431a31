internal import Relay
internal import Transport

/// Admits clients that have a token, and closes the connections of tokens that are revoked.
@EventLoop
final class Access: RelayGate {
    private struct Guest {
        let webSocket: WebSocket
        let token: AccessTokens.Digest
    }

    /// `nil` = anyone may connect.
    private var tokens: AccessTokens?
    /// With which the newest request was permitted; its socket opens within the same call.
    private var permitted: AccessTokens.Digest?
    private var guests: [ObjectIdentifier: Guest] = [:]
    private(set) var missingTokens: UInt64 = 0
    private(set) var wrongTokens: UInt64 = 0

    nonisolated init(_ tokens: AccessTokens?) { self.tokens = tokens }

    /// Returns how many connections were closed, because their token is not valid any more, or because they have none.
    func change(_ tokens: AccessTokens?) -> Int {
        let hadTokens = self.tokens != nil
        self.tokens = tokens
        guard let tokens, hadTokens else { return 0 }
        let revoked = guests.values.filter { !tokens.contains($0.token) }
        for guest in revoked { guest.webSocket.close(code: 1_008, reason: "not_allowed") }
        return revoked.count
    }

    func refusal(of head: HTTPRequestHead, from remote: PeerAddress) -> HTTPAnswer? {
        permitted = nil
        guard let tokens else { return nil }
        switch tokens.verdict(on: head) {
        case .permitted(let token):
            permitted = token
            return nil
        case .missing:
            missingTokens &+= 1
            return .respond(status: 401, contentType: "text/plain", text: "this relay requires a bearer token\n")
        case .wrong:
            wrongTokens &+= 1
            return .respond(status: 401, contentType: "text/plain", text: "this bearer token is not valid here\n")
        }
    }

    func didOpen(_ webSocket: WebSocket) {
        guard let token = permitted else { return }
        permitted = nil
        guests[ObjectIdentifier(webSocket)] = Guest(webSocket: webSocket, token: token)
    }

    func didClose(_ webSocket: WebSocket) { guests[ObjectIdentifier(webSocket)] = nil }
}
