/// An action's id as what the server keeps and sends back: never one of the names that servers read themselves, and of
/// letters that need no quoting in their menus.
enum ActionKey {
    private static let prefix = "action."

    static func isValid(_ id: String) -> Bool { !id.isEmpty && id.utf8.count <= 256 }

    static func key(of id: String) -> String { prefix + PercentEncoding.encode(id) }

    static func id(of key: String) -> String? {
        guard key.utf8.count <= 1_024, key.hasPrefix(prefix),
            let id = PercentEncoding.decode(String(key.dropFirst(prefix.count))), isValid(id)
        else { return nil }
        return id
    }
}
