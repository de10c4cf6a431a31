package import Store

/// A statement that grows by conditions, with the values that are bound to it.
package struct SQLText {
    package private(set) var sql: String
    package private(set) var values: [Value]
    private var hasCondition = false

    package init(_ sql: String, _ values: [Value] = []) {
        self.sql = sql
        self.values = values
    }

    package mutating func add(condition: String, _ values: [Value] = []) {
        sql += hasCondition ? " AND " : " WHERE "
        sql += condition
        self.values += values
        hasCondition = true
    }

    package mutating func add(_ suffix: String, _ values: [Value] = []) {
        sql += suffix
        self.values += values
    }
}
