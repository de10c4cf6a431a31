/// One step from an older schema to a newer one.
///
/// Steps are never changed once they were released, only added. A name is recorded in the file, so a step runs once,
/// wherever it stands in the list.
package struct Migration: Sendable {
    /// For ever unique within a file, such as `inbox.1`.
    package let name: String
    let body: @Sendable (Connection) throws(StoreError) -> Void

    package init(_ name: String, _ body: @escaping @Sendable (Connection) throws(StoreError) -> Void) {
        self.name = name
        self.body = body
    }

    /// A step that is SQL alone.
    package init(_ name: String, sql: String) {
        self.init(name) { (connection) throws(StoreError) in try connection.executeScript(sql) }
    }
}
