package import Transport

/// The counters of a relay since its start, and its current contents. Totals count from the start; everything else is
/// now.
package struct RelayStats: Sendable, Equatable {
    package struct Connections: Sendable, Equatable {
        package var current: Int
        package var total: UInt64
        /// Ended because they read too slowly.
        package var slowReaders: UInt64
        /// Refused because too many had not registered.
        package var turnedAway: UInt64
        /// Ended because a message was incomplete for too long, or too much of them was in memory.
        package var unfinishedMessages: UInt64
        /// Ended because they kept sending too many frames.
        package var floods: UInt64
        /// Memory that incomplete messages hold.
        package var receivingBytes: Int
    }

    package struct Registrations: Sendable, Equatable {
        /// Registered ids.
        package var peers: Int
        package var total: UInt64
        /// Registrations that took an id from an owner who did not answer.
        package var replaced: UInt64
        package var proved: UInt64
        package var proofsRefused: UInt64
        /// Ids that are never registered without a proof again.
        package var provedIDs: Int
        /// Aliases of typed codes.
        package var aliases: Int
    }

    package struct Messages: Sendable, Equatable {
        package var forwarded: UInt64
        package var framesRefused: UInt64
        /// Frames over the limit of one second.
        package var framesLimited: UInt64
    }

    /// Frames for absent peers.
    package struct Stored: Sendable, Equatable {
        /// Absent peers that something is kept for.
        package var peers: Int
        package var frames: Int
        package var bytes: Int
        package var total: UInt64
        /// Reached their peer.
        package var delivered: UInt64
        /// Pushed out by newer ones.
        package var displaced: UInt64
        package var expired: UInt64
        /// Found no place.
        package var refused: UInt64
    }

    /// Epoch milliseconds.
    package var startedAt: Int64
    package var uptimeSeconds: Int64
    package var connections: Connections
    package var registrations: Registrations
    package var messages: Messages
    package var stored: Stored
}

/// Numbers of a relay beside its ``RelayStats``.
package struct RelayMeasures: Sendable {
    /// Refused frames, by the `code` of the answer.
    package var refusals: [(reason: String, count: UInt64)]
    package var forwardedBytes: UInt64
    /// Frames for absent peers, stored or not.
    package var absences: UInt64
    /// Epoch milliseconds; `nil` = nothing is stored.
    package var oldestStoredAt: Int64?
    package var unregistered: Int
    package var unsavedProofs: UInt64
    package var handshakes: HTTPListener.Handshakes
    package var refusedProxyHeaders: UInt64
}
