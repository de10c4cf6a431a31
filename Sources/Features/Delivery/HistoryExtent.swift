import Listing
package import Store
package import Wire

/// The rows of the history that a command about everything concerns: those up to one, without pushes that wait for other
/// devices and were not sent to the device that asks. Nobody has seen those yet, so they stay.
package struct HistoryExtent {
    private let last: Int64
    /// How the places in `history.sent` begin that are of the device that asks; empty: nothing stays for others.
    private let place: String

    /// - Parameter device: the one that asks; `nil` = the desktop's own program, which means every row.
    package init(through last: Int64, for device: PeerID?, _ connection: Connection) throws(StoreError) {
        self.last = last
        place = if let device { " \(try PeerNumbers(connection).find(device) ?? 0):" } else { "" }
    }

    /// For the parameters ?1 and ?2 of the conditions.
    package var values: [Value] { [.integer(last), .text(place)] }

    private static let unseen = """
        (SELECT unseen.push FROM outbox AS unseen JOIN history AS pushed ON pushed.row = unseen.push
            WHERE unseen.push BETWEEN 1 AND ?1 AND instr(' ' || pushed.sent, ?2) = 0)
        """

    /// True for these rows.
    package static func contains(_ row: String) -> String {
        "(\(row) <= ?1 AND (?2 = '' OR \(row) NOT IN \(unseen)))"
    }

    /// True for the other rows.
    package static func leavesOut(_ row: String) -> String {
        "(\(row) > ?1 OR (?2 <> '' AND \(row) IN \(unseen)))"
    }

    /// Whether there are other rows.
    package func leavesOut(_ connection: Connection) throws(StoreError) -> Bool {
        try connection.integer("SELECT EXISTS (SELECT 1 FROM history WHERE \(Self.leavesOut("row")))", values) != 0
    }
}
