import Glibc
import Synchronization

/// Paths are bytes, but texts of this library are UTF-8. A path that is not valid UTF-8 gets a text by which this process
/// reaches the same place: its directory stays open, and `/proc/self/fd` names it.
package enum BytePath {
    /// Texts by the beginning of the path that they stand for. One descriptor of each stays open.
    private static let known = Mutex<[[UInt8]: String]>([:])
    /// Linux's: a descriptor that only names a file.
    private static let namesOnly: CInt = 0o10000000

    /// - Parameter makes: creates missing directories of the part that is not UTF-8, for their owner alone.
    /// - Returns: `nil` with `errno` if that part does not exist; `ENOTSUP` if `/proc` is not mounted.
    package static func text(_ path: [UInt8], makes: Bool = false) -> String? {
        if let text = String(validating: path, as: UTF8.self) { return text }
        let slash = UInt8(ascii: "/")
        // As much as possible stays a name: a file that is replaced is then the new one.
        let end =
            path.indices.first { path[$0] == slash && String(validating: path[$0...], as: UTF8.self) != nil }
            ?? path.endIndex
        let rest = String(decoding: path[end...], as: UTF8.self)
        if makes {
            for index in path.indices.dropFirst() where index <= end && path[index] == slash {
                mkdir(terminated(path[..<index]), 0o700)
            }
            mkdir(terminated(path[..<end]), 0o700)
        }
        let name = terminated(path[..<end])
        return known.withLock { known in
            if let text = known[Array(path[..<end])], isSame(name, text) { return text + rest }
            let descriptor = open(name, namesOnly | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            let text = folder + "\(descriptor)"
            guard isSame(name, text) else {
                close(descriptor)
                errno = ENOTSUP
                return nil
            }
            known[Array(path[..<end])] = text
            return text + rest
        }
    }

    /// A message for people, with the paths that these texts stand for. Bytes that are not UTF-8 become U+FFFD.
    package static func named(in message: String) -> String {
        let known = known.withLock { $0 }
        guard !known.isEmpty else { return message }
        let text = Array(message.utf8)
        let begin = Array(folder.utf8)
        var named: [UInt8] = []
        var index = 0
        while index < text.count {
            guard text[index...].starts(with: begin) else {
                named.append(text[index])
                index += 1
                continue
            }
            let digits = text[(index + begin.count)...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            let name = folder + String(decoding: digits, as: UTF8.self)
            named += known.first { $0.value == name }?.key ?? Array(name.utf8)
            index = digits.endIndex
        }
        return String(decoding: named, as: UTF8.self)
    }

    private static let folder = "/proc/self/fd/"

    private static func terminated(_ path: ArraySlice<UInt8>) -> [CChar] {
        path.map { CChar(bitPattern: $0) } + [0]
    }

    private static func isSame(_ name: [CChar], _ text: String) -> Bool {
        var (one, other) = (stat(), stat())
        return stat(name, &one) == 0 && stat(text, &other) == 0 && one.st_dev == other.st_dev
            && one.st_ino == other.st_ino
    }
}
