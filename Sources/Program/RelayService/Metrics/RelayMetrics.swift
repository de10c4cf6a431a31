internal import Cluster
internal import Glibc
internal import Hosting
internal import Relay
internal import Transport

/// The metrics of a relay. Their names and labels stay; see the page "Running a relay".
@EventLoop
struct RelayMetrics {
    private(set) var text: String

    init(_ service: RelayService) {
        var page = MetricsText()
        let stats = service.relay.stats
        let measures = service.relay.measures
        page.gauge(
            "bellwire_relay_info", "Version of the relay.", labels: [("version", libraryVersion.description)])
        page.gauge(
            "bellwire_relay_start_time_seconds", "When the relay started, in seconds since 1970.",
            Double(stats.startedAt) / 1_000)
        page.gauge(
            "bellwire_relay_draining", "1 while the relay is shutting down.", service.isDraining ? 1 : 0)
        Self.addConnections(stats, measures, service.access, to: &page)
        Self.addRegistrations(stats, measures, to: &page)
        Self.addMessages(stats, measures, to: &page)
        Self.addStored(stats, measures, to: &page)
        if let archive = service.archive { Self.addArchive(archive, to: &page) }
        if let cluster = service.cluster { Self.addCluster(cluster, to: &page) }
        page.histogram(
            "bellwire_relay_event_loop_delay_seconds", "How late a timer of the event loop fires.",
            service.delay.histogram)
        page.counter(
            "bellwire_relay_cpu_seconds_total", "Processor time of the process, in whole seconds.", Self.cpuSeconds)
        text = page.text
    }

    private static func addConnections(
        _ stats: RelayStats, _ measures: RelayMeasures, _ access: Access, to page: inout MetricsText
    ) {
        let connections = stats.connections
        page.gauge("bellwire_relay_connections", "Open connections of peers.", connections.current)
        page.gauge(
            "bellwire_relay_unregistered_connections", "Open connections that have not registered.",
            measures.unregistered)
        page.counter("bellwire_relay_connections_total", "Connections accepted.", connections.total)
        page.counter(
            "bellwire_relay_connections_refused_total", "Connections refused, by reason.", by: "reason",
            [
                ("too_many_unregistered", connections.turnedAway), ("missing_token", access.missingTokens),
                ("wrong_token", access.wrongTokens), ("proxy_header", measures.refusedProxyHeaders),
            ])
        page.counter(
            "bellwire_relay_connections_ended_total", "Connections that the relay ended, by reason.", by: "reason",
            [
                ("slow_reader", connections.slowReaders), ("unfinished_message", connections.unfinishedMessages),
                ("too_many_frames", connections.floods),
            ])
        page.gauge(
            "bellwire_relay_receiving_bytes", "Memory of messages that are not complete yet.",
            connections.receivingBytes)
        let handshakes = measures.handshakes
        page.counter(
            "bellwire_relay_tls_handshakes_total", "TLS handshakes, by result.", by: "result",
            [
                ("full", handshakes.completed &- handshakes.resumed), ("resumed", handshakes.resumed),
                ("failed", handshakes.failed),
            ])
    }

    private static func addRegistrations(
        _ stats: RelayStats, _ measures: RelayMeasures, to page: inout MetricsText
    ) {
        let registrations = stats.registrations
        page.gauge("bellwire_relay_registered_ids", "Ids that are registered now.", registrations.peers)
        page.gauge(
            "bellwire_relay_pairing_codes", "Typed pairing codes that are registered now.", registrations.aliases)
        page.gauge("bellwire_relay_proved_ids", "Ids that always need a proof.", registrations.provedIDs)
        page.counter("bellwire_relay_registrations_total", "Registrations.", registrations.total)
        page.counter(
            "bellwire_relay_registrations_replaced_total", "Registrations that took an id from another connection.",
            registrations.replaced)
        page.counter("bellwire_relay_proofs_total", "Valid proofs of an id.", registrations.proved)
        page.counter("bellwire_relay_proofs_refused_total", "Invalid proofs of an id.", registrations.proofsRefused)
        page.counter(
            "bellwire_relay_proofs_unsaved_total", "Proofs that could not be written to disk.", measures.unsavedProofs)
    }

    private static func addMessages(_ stats: RelayStats, _ measures: RelayMeasures, to page: inout MetricsText) {
        page.counter(
            "bellwire_relay_frames_forwarded_total", "Frames forwarded to peers that are online.",
            stats.messages.forwarded)
        page.counter(
            "bellwire_relay_forwarded_bytes_total", "Bytes of forwarded frames, without WebSocket and TLS.",
            measures.forwardedBytes)
        page.counter(
            "bellwire_relay_frames_absent_total", "Frames for peers that are not online, stored or not.",
            measures.absences)
        page.counter(
            "bellwire_relay_frames_refused_total", "Frames answered with an error, by its code.", by: "reason",
            measures.refusals.map { ($0.reason, $0.count) })
        page.counter(
            "bellwire_relay_frames_limited_total", "Frames over a limit of one second or minute.",
            stats.messages.framesLimited)
    }

    private static func addStored(_ stats: RelayStats, _ measures: RelayMeasures, to page: inout MetricsText) {
        let stored = stats.stored
        page.gauge("bellwire_relay_stored_frames", "Frames stored for absent peers.", stored.frames)
        page.gauge("bellwire_relay_stored_bytes", "Bytes of stored frames.", stored.bytes)
        page.gauge("bellwire_relay_stored_peers", "Absent peers with stored frames.", stored.peers)
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let age = measures.oldestStoredAt.map { Double(now.tv_sec) - Double($0) / 1_000 } ?? 0
        page.gauge(
            "bellwire_relay_stored_oldest_seconds", "Age of the oldest stored frame; 0 without one.", max(0, age))
        page.counter("bellwire_relay_stored_total", "Frames that were stored.", stored.total)
        page.counter(
            "bellwire_relay_stored_delivered_total", "Stored frames that reached their peer.", stored.delivered)
        page.counter(
            "bellwire_relay_stored_dropped_total", "Frames that were not stored, or not for long enough, by reason.",
            by: "reason",
            [("displaced", stored.displaced), ("expired", stored.expired), ("no_place", stored.refused)])
    }

    private static func addArchive(_ archive: ArchiveWriter, to page: inout MetricsText) {
        page.counter(
            "bellwire_relay_store_committed_total", "Stored frames that were written to disk.", archive.committed)
        page.gauge(
            "bellwire_relay_store_pending", "Stored frames and deletions that are not on disk yet.", archive.pending)
        page.counter("bellwire_relay_store_failures_total", "Writes to disk that failed.", archive.failures)
        page.gauge("bellwire_relay_store_failing", "Whether the last write failed.", archive.isFailing ? 1 : 0)
        page.histogram(
            "bellwire_relay_store_commit_seconds", "Time to write a group of changes to disk.", archive.latency)
    }

    private static func addCluster(_ cluster: ClusterNode, to page: inout MetricsText) {
        let counters = cluster.counters
        page.gauge(
            "bellwire_relay_nats_connected", "Whether the other relays can be reached.", cluster.isConnected ? 1 : 0)
        page.counter(
            "bellwire_relay_nats_disconnections_total", "Lost connections to NATS, and attempts that failed.",
            counters.disconnections)
        page.counter(
            "bellwire_relay_cluster_frames_sent_total", "Frames that other relays took, and that none took.",
            by: "result", [("taken", counters.sent), ("not_taken", counters.notTaken)])
        page.counter(
            "bellwire_relay_cluster_frames_received_total", "Frames of other relays' peers for peers here.",
            counters.received)
        page.counter(
            "bellwire_relay_cluster_yielded_total", "Ids that went to connections at other relays.", counters.yielded)
        page.counter(
            "bellwire_relay_cluster_ignored_total", "Messages over NATS that are none of a relay's.", counters.ignored)
        page.counter(
            "bellwire_relay_cluster_proof_failures_total",
            "Proved ids that could not be looked up or stored for all relays.", cluster.proofFailures)
        page.gauge(
            "bellwire_relay_cluster_waiting_peers", "Peers of any relay for whom frames are stored here.",
            cluster.waiting)
    }

    private static var cpuSeconds: UInt64 {
        var usage = rusage()
        guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
        return UInt64(clamping: usage.ru_utime.tv_sec &+ usage.ru_stime.tv_sec)
    }
}
