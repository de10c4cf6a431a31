import Glibc
package import Store
package import Wire

/// Maps pushes to the files of their images, so that a file is deleted with its push.
///
/// Lives for one job of the store, on its connection. ``ImageCache`` deletes old files by itself; as many rows are kept.
package struct AlertImages {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// The push's image is in that file, which may be that of others, too.
    ///
    /// - Parameter key: `nil` = the file is no longer needed.
    package func keep(_ path: String, of key: AlertKey?) throws(StoreError) {
        guard let key else { return try removeUnused(path) }
        try connection.execute(
            "INSERT OR REPLACE INTO alert_image(desktop, id, path) VALUES (?, ?, ?)",
            AlertTable.values(of: key) + [.text(path)])
        try connection.execute(
            "DELETE FROM alert_image WHERE rowid NOT IN (SELECT rowid FROM alert_image ORDER BY rowid DESC LIMIT ?)",
            [.integer(Int64(ImageCache.maximumCount))])
    }

    /// Deletes the files that are images of no push that is still there.
    package func sweep(
        isThere: (NotificationID, PeerID) throws(StoreError) -> Bool
    ) throws(StoreError) {
        for (key, desktop) in try AlertTable(connection).ofDesktops(in: "alert_image") {
            guard try !isThere(NotificationID(key.id.text), desktop) else { continue }
            let path = try connection.first(
                "DELETE FROM alert_image WHERE desktop = ? AND id = ? RETURNING path", AlertTable.values(of: key)
            ) { (row) throws(StoreError) in try row.optionalText(0) }
            if case let path?? = path { try removeUnused(path) }
        }
    }

    private func removeUnused(_ path: String) throws(StoreError) {
        let users = try connection.integer("SELECT count(*) FROM alert_image WHERE path = ?", [.text(path)])
        if users == 0 { unlink(path) }
    }
}
