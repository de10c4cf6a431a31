/// Files that a server of ours, another program, is to open.
enum FilePath {
    /// The path, if it is absolute and a server can be told it.
    static func checked(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/"), path.utf8.count <= 4_096, BannerText.isShown(path) else { return nil }
        return path
    }

    /// As `file:///…`, the only form that all servers read.
    static func url(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/"), path.utf8.count <= 4_096, !path.utf8.contains(0) else { return nil }
        return "file://" + PercentEncoding.encode(path, keeping: "-_./~")
    }
}
