internal import Glibc
internal import Hosting
internal import JSON
internal import Transport

extension Relay {
    /// The pages of the deployed Node.js relay, with its field names, and ours beside them.
    func healthPage(_ head: HTTPRequestHead) -> HTTPAnswer {
        guard head.method == "GET" || head.method == "HEAD" else {
            return .respond(status: 405, contentType: "text/plain", text: "use GET\n")
        }
        switch head.path {
        case "/", "/health":
            return .respond(status: 200, contentType: "application/json", text: health.serialized() + "\n")
        case "/stats":
            return .respond(status: 200, contentType: "application/json", text: statistics.serialized() + "\n")
        default: return .respond(status: 404, contentType: "text/plain", text: "Not Found\n")
        }
    }

    package var stats: RelayStats {
        let moment = now()
        let counters = machine.counters
        return RelayStats(
            startedAt: startedAt.epoch,
            uptimeSeconds: Int64(clamping: (moment.monotonic &- startedAt.monotonic) / 1_000),
            connections: machine.connectionCount, connectionsTotal: counters.connections,
            peers: machine.registeredCount, registrationsTotal: counters.registrations,
            messagesForwarded: counters.forwarded, messagesStored: counters.stored,
            messagesQueued: machine.absent.frameCount, queuedBytes: machine.absent.byteCount,
            absentPeers: machine.absent.peerCount, messagesDelivered: counters.delivered,
            messagesDisplaced: machine.absent.displaced, messagesExpired: machine.absent.expired,
            messagesNotKept: machine.absent.refused, framesRefused: counters.refusedFrames,
            framesLimited: counters.limitedFrames, peersReplaced: counters.replaced,
            registrationsProved: counters.proved, proofsRefused: counters.refusedProofs,
            provedIDs: machine.proved.count, aliases: machine.aliases.count, slowReaders: slowReaders,
            turnedAway: turnedAway)
    }

    private var health: JSONValue {
        let stats = stats
        return [
            "status": "healthy",
            "service": "signaling-server",
            "version": .string(libraryVersion.description),
            "uptime": .integer(stats.uptimeSeconds),
            "connections": [
                "current": .integer(Int64(stats.connections)),
                "total": .integer(Int64(clamping: stats.connectionsTotal)),
            ],
            "peers": .integer(Int64(stats.peers)),
            "messages": [
                "forwarded": .integer(Int64(clamping: stats.messagesForwarded)),
                "offlineQueued": .integer(Int64(stats.messagesQueued)),
            ],
            "timestamp": .string(Self.timeText(now().epoch)),
        ]
    }

    var statistics: JSONValue {
        let stats = stats
        let numbers: [(String, Int64)] = [
            ("uptime", stats.uptimeSeconds),
            ("totalConnections", Int64(clamping: stats.connectionsTotal)),
            ("currentConnections", Int64(stats.connections)),
            ("messagesForwarded", Int64(clamping: stats.messagesForwarded)),
            ("offlineMessagesStored", Int64(clamping: stats.messagesStored)),
            ("startTime", stats.startedAt),
            ("offlineMessagesQueued", Int64(stats.messagesQueued)),
            ("offlineBytesQueued", Int64(stats.queuedBytes)),
            ("offlinePeers", Int64(stats.absentPeers)),
            ("offlineMessagesDelivered", Int64(clamping: stats.messagesDelivered)),
            ("offlineMessagesDisplaced", Int64(clamping: stats.messagesDisplaced)),
            ("offlineMessagesExpired", Int64(clamping: stats.messagesExpired)),
            ("offlineMessagesNotKept", Int64(clamping: stats.messagesNotKept)),
            ("peers", Int64(stats.peers)),
            ("registrations", Int64(clamping: stats.registrationsTotal)),
            ("peersReplaced", Int64(clamping: stats.peersReplaced)),
            ("registrationsProved", Int64(clamping: stats.registrationsProved)),
            ("proofsRefused", Int64(clamping: stats.proofsRefused)),
            ("provedIds", Int64(stats.provedIDs)),
            ("aliases", Int64(stats.aliases)),
            ("framesRefused", Int64(clamping: stats.framesRefused)),
            ("framesLimited", Int64(clamping: stats.framesLimited)),
            ("slowReaders", Int64(clamping: stats.slowReaders)),
            ("turnedAway", Int64(clamping: stats.turnedAway)),
        ]
        var object: JSONObject = ["status": "healthy"]
        for (key, number) in numbers { object[key] = .integer(number) }
        return .object(object)
    }

    /// `2026-01-31T12:00:00.000Z`.
    private static func timeText(_ epoch: Int64) -> String {
        var seconds = time_t(epoch / 1_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date =
            "\(padded(Int(parts.tm_year) + 1_900, 4))-\(padded(Int(parts.tm_mon) + 1, 2))-\(padded(Int(parts.tm_mday), 2))"
        let time = "\(padded(Int(parts.tm_hour), 2)):\(padded(Int(parts.tm_min), 2)):\(padded(Int(parts.tm_sec), 2))"
        return "\(date)T\(time).\(padded(Int(epoch % 1_000), 3))Z"
    }
}
