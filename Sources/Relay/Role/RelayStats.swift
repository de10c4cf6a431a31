/// What a relay has done since it started, and what it holds.
package struct RelayStats: Sendable, Equatable {
    /// Epoch milliseconds.
    package var startedAt: Int64
    package var uptimeSeconds: Int64
    package var connections: Int
    package var connectionsTotal: UInt64
    /// Registered ids.
    package var peers: Int
    package var registrationsTotal: UInt64
    package var messagesForwarded: UInt64
    /// Frames that were kept for absent peers, ever.
    package var messagesStored: UInt64
    /// Frames that are kept now.
    package var messagesQueued: Int
    package var queuedBytes: Int
    /// Absent peers for which something is kept.
    package var absentPeers: Int
    /// Kept frames that reached their peer.
    package var messagesDelivered: UInt64
    /// Kept frames that newer ones pushed out.
    package var messagesDisplaced: UInt64
    package var messagesExpired: UInt64
    /// Frames for absent peers that found no place.
    package var messagesNotKept: UInt64
    package var framesRefused: UInt64
    /// Frames over the limit of one second.
    package var framesLimited: UInt64
    /// Registrations that took an id from an owner who did not answer.
    package var peersReplaced: UInt64
    /// Registrations that were proved, ever.
    package var registrationsProved: UInt64
    package var proofsRefused: UInt64
    /// Ids that are never registered without a proof again.
    package var provedIDs: Int
    /// Aliases of typed codes that are held now.
    package var aliases: Int
    /// Connections that ended because they read too slowly.
    package var slowReaders: UInt64
    /// Connections that were turned away because too many had not registered.
    package var turnedAway: UInt64
}
