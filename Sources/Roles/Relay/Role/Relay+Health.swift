internal import Glibc
internal import Hosting
package import JSON
package import Transport

extension Relay {
    /// The pages of the deployed Node.js relay, with its field names, and ours beside them.
    package func healthPage(_ head: HTTPRequestHead) -> HTTPAnswer {
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
            connections: .init(
                current: machine.connectionCount, total: counters.connections, slowReaders: tallies.slowReaders,
                turnedAway: tallies.turnedAway, unfinishedMessages: tallies.unfinishedMessages,
                floods: tallies.floods, receivingBytes: listener?.unfinishedBytes ?? 0),
            registrations: .init(
                peers: machine.registeredCount, total: counters.registrations, replaced: counters.replaced,
                proved: counters.proved, proofsRefused: counters.refusedProofs, provedIDs: machine.proved.count,
                aliases: machine.aliases.count),
            messages: .init(
                forwarded: counters.forwarded, framesRefused: counters.refusedFrames,
                framesLimited: counters.limitedFrames),
            stored: .init(
                peers: machine.absent.peerCount, frames: machine.absent.frameCount, bytes: machine.absent.byteCount,
                total: counters.stored, delivered: counters.delivered, displaced: machine.absent.displaced,
                expired: machine.absent.expired, refused: machine.absent.refused))
    }

    /// What ``stats`` does not have, for a service's metrics.
    package var measures: RelayMeasures {
        RelayMeasures(
            refusals: Refusal.allCases.map {
                (reason: $0.name.description, count: machine.counters.refusals[$0.rawValue])
            },
            forwardedBytes: machine.counters.forwardedBytes, absences: machine.counters.peerOffline,
            oldestStoredAt: machine.absent.oldest, unregistered: machine.doorkeeper.unregistered,
            unsavedProofs: tallies.unsavedProofs, handshakes: listener?.handshakes ?? HTTPListener.Handshakes(),
            refusedProxyHeaders: listener?.refusedPreambles ?? 0)
    }

    package var health: JSONValue {
        let stats = stats
        return [
            "status": "healthy",
            "service": "signaling-server",
            "version": .string(libraryVersion.description),
            "uptime": .integer(stats.uptimeSeconds),
            "connections": [
                "current": .integer(Int64(stats.connections.current)),
                "total": .integer(Int64(clamping: stats.connections.total)),
            ],
            "peers": .integer(Int64(stats.registrations.peers)),
            "messages": [
                "forwarded": .integer(Int64(clamping: stats.messages.forwarded)),
                "offlineQueued": .integer(Int64(stats.stored.frames)),
            ],
            "timestamp": .string(Self.timeText(now().epoch)),
        ]
    }

    package var statistics: JSONValue {
        let stats = stats
        let numbers: [(String, Int64)] = [
            ("uptime", stats.uptimeSeconds),
            ("totalConnections", Int64(clamping: stats.connections.total)),
            ("currentConnections", Int64(stats.connections.current)),
            ("messagesForwarded", Int64(clamping: stats.messages.forwarded)),
            ("offlineMessagesStored", Int64(clamping: stats.stored.total)),
            ("startTime", stats.startedAt),
            ("offlineMessagesQueued", Int64(stats.stored.frames)),
            ("offlineBytesQueued", Int64(stats.stored.bytes)),
            ("offlinePeers", Int64(stats.stored.peers)),
            ("offlineMessagesDelivered", Int64(clamping: stats.stored.delivered)),
            ("offlineMessagesDisplaced", Int64(clamping: stats.stored.displaced)),
            ("offlineMessagesExpired", Int64(clamping: stats.stored.expired)),
            ("offlineMessagesNotKept", Int64(clamping: stats.stored.refused)),
            ("peers", Int64(stats.registrations.peers)),
            ("registrations", Int64(clamping: stats.registrations.total)),
            ("peersReplaced", Int64(clamping: stats.registrations.replaced)),
            ("registrationsProved", Int64(clamping: stats.registrations.proved)),
            ("proofsRefused", Int64(clamping: stats.registrations.proofsRefused)),
            ("provedIds", Int64(stats.registrations.provedIDs)),
            ("aliases", Int64(stats.registrations.aliases)),
            ("framesRefused", Int64(clamping: stats.messages.framesRefused)),
            ("framesLimited", Int64(clamping: stats.messages.framesLimited)),
            ("slowReaders", Int64(clamping: stats.connections.slowReaders)),
            ("turnedAway", Int64(clamping: stats.connections.turnedAway)),
            ("unfinishedMessages", Int64(clamping: stats.connections.unfinishedMessages)),
            ("floods", Int64(clamping: stats.connections.floods)),
            ("receivingBytes", Int64(stats.connections.receivingBytes)),
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
