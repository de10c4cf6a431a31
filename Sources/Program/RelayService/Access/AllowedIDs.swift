/// The ids that may register.
enum AllowedIDs {
    /// One id a line; empty lines and those that begin with `#` are skipped.
    ///
    /// - Throws: ``ServiceError/Code/invalidFile`` for a line of more than 256 bytes.
    static func read(file text: String, path: String) throws(ServiceError) -> Set<[UInt8]> {
        var ids: Set<[UInt8]> = []
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard let id = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).first,
                !id.hasPrefix("#")
            else { continue }
            guard id.utf8.count <= 256 else {
                throw ServiceError(.invalidFile, "\(path), line \(number + 1): an id has at most 256 bytes")
            }
            ids.insert(Array(id.utf8))
        }
        return ids
    }
}
