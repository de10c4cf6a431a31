import Store

/// A statement that grows by conditions, with the values that are bound to it.
struct SQLText {
    private(set) var sql: String
    private(set) var values: [Value]
    private var hasCondition = false

    init(_ sql: String, _ values: [Value] = []) {
        self.sql = sql
        self.values = values
    }

    mutating func add(condition: String, _ values: [Value] = []) {
        sql += hasCondition ? " AND " : " WHERE "
        sql += condition
        self.values += values
        hasCondition = true
    }

    mutating func add(_ suffix: String) { sql += suffix }
}
