import CSQLite
import Glibc

/// What a database that no program uses says of its peers, for `bellwire doctor`: it is only read, with no lock, and no
/// file is made beside it.
struct StoredPeers {
    private(set) var count = 0
    /// URLs of their relays.
    private(set) var relays: [String] = []
    /// When the last one was seen, in milliseconds since 1970.
    private(set) var latest: Int64?

    init(_ role: RoleStatus.Role, in directory: String) throws(Failure) {
        let path = "\(directory)/\(role.database)"
        var database: OpaquePointer?
        var statement: OpaquePointer?
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(database)
        }
        // What a program that was killed has left must be read with its log; SQLite then makes a file for readers.
        let hasLog = access("\(path)-wal", F_OK) == 0
        let options = hasLog ? "mode=ro" : "immutable=1"
        let name = "file:\(StoredPeers.escaped(path))?\(options)"
        let table = role == .device ? "paired_desktop" : "paired_device"
        let urls = role == .device ? "lan_signaling_url, relay_url" : "NULL, NULL"
        guard sqlite3_open_v2(name, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil) == SQLITE_OK,
            sqlite3_prepare_v2(database, "SELECT last_seen_at, \(urls) FROM \(table)", -1, &statement, nil) == SQLITE_OK
        else { throw Failure(cannot: "read", path, database) }
        var step = sqlite3_step(statement)
        while step == SQLITE_ROW {
            count += 1
            latest = max(latest ?? 0, sqlite3_column_int64(statement, 0))
            for column: Int32 in 1...2 {
                if let text = sqlite3_column_text(statement, column) { relays.append(String(cString: text)) }
            }
            step = sqlite3_step(statement)
        }
        guard step == SQLITE_DONE else { throw Failure(cannot: "read", path, database) }
    }

    /// A path as part of a URI.
    private static func escaped(_ path: String) -> String {
        var text = ""
        for character in path {
            switch character {
            case "%": text += "%25"
            case "?": text += "%3f"
            case "#": text += "%23"
            default: text.append(character)
            }
        }
        return text
    }
}
