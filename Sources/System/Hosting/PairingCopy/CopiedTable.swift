import Identity
import JSON
import Store

/// A table of which ``PairingCopy`` holds a second copy: the columns that a pairing can't do without.
package struct CopiedTable: Sendable {
    package enum Kind: Sendable {
        /// A row gives something: a peer, or a key that it may move to. Rows leave the copy before they leave the
        /// database, and come into it after.
        case grants
        /// A row takes something away: a key that is refused, a right. Rows come into the copy before they come into
        /// the database, and leave it after.
        case restricts
    }

    let name: String
    private let kind: Kind
    private let keys: Int
    let columns: String
    private let values: String
    /// Those that are copied as they are.
    private let kept: Set<String>

    /// - Parameters:
    ///   - keys: how many of the first columns tell rows apart.
    ///   - columns: what is copied, such as `id, name`.
    ///   - values: their values, where one changes all the time and can begin anew.
    package init(_ name: String, _ kind: Kind, keys: Int = 1, _ columns: String, values: String? = nil) {
        (self.name, self.kind, self.keys) = (name, kind, keys)
        (self.columns, self.values) = (columns, values ?? columns)
        let pairs = zip(Self.names(columns), Self.names(self.values))
        kept = Set(pairs.lazy.filter { $0 == $1 }.map(\.0))
    }

    /// The tables of the seal, on either side.
    static let ofSeal = [
        CopiedTable("seal_peer", .restricts, "peer, minimum, psk"),
        CopiedTable("revoked_key", .restricts, "id, name, at, successor"),
        CopiedTable("peer_move", .grants, keys: 2, "old, new, receiver, at, state"),
        CopiedTable("own_move", .grants, "only, phase, old, new, at"),
        CopiedTable("own_move_peer", .grants, "peer, statement, answer"),
    ]

    private static func names(_ list: String) -> [String] {
        list.split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    /// Whether a change of this column changes the copy; `nil` = a row that comes or goes.
    func copies(_ column: String?) -> Bool { column.map(kept.contains) ?? true }

    /// All rows, each an array.
    func rows(in connection: Connection) throws(StoreError) -> [JSONValue] {
        try connection.query("SELECT \(values) FROM \(name) ORDER BY \(keys == 1 ? "1" : "1, 2")") {
            (row) throws(StoreError) in
            .array(row.values.map(\.json))
        }
    }

    /// Puts the rows in the place of those in the table.
    func write(_ rows: [JSONValue], to connection: Connection) throws(StoreError) {
        try connection.execute("DELETE FROM \(name)")
        for row in rows {
            let cells = (row.array ?? []).map { Value($0) }
            let marks = cells.map { _ in "?" }.joined(separator: ", ")
            try connection.execute("INSERT INTO \(name) (\(columns)) VALUES (\(marks))", cells)
        }
    }

    /// What neither state says more than: no peer, right or key that one of the two doesn't have.
    func common(_ old: [JSONValue], _ new: [JSONValue]) -> [JSONValue] {
        switch kind {
        case .grants:
            let known = Set(old.map(key))
            return new.filter { known.contains(key($0)) }
        case .restricts:
            let known = Set(new.map(key))
            return new + old.filter { !known.contains(key($0)) }
        }
    }

    private func key(_ row: JSONValue) -> String { JSONValue.array(Array((row.array ?? []).prefix(keys))).serialized() }
}

extension Value {
    fileprivate var json: JSONValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .double(number)
        case .text(let text): .string(text)
        case .blob(let bytes): ["hex": .string(TextEncoding.hex.encode(bytes))]
        }
    }

    fileprivate init(_ json: JSONValue) {
        switch json {
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .object(let object): self = .optional(object["hex"]?.string.flatMap(TextEncoding.hex.decode))
        case .null, .bool, .array: self = .null
        }
    }
}
