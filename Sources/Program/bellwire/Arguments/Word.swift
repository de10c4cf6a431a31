import Door
import Glibc
import Identity

/// A word of the command line as text. Words are bytes: each that is not part of valid UTF-8 becomes a scalar of its own,
/// at the end of a private-use plane.
enum Word {
    private static let escapes: ClosedRange<UInt32> = 0x10_FF80...0x10_FFFF
    private static let base: UInt32 = 0x10_FF00

    static func text(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self), isUTF8(text) { return text }
        var text = String.UnicodeScalarView()
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        var index = 0
        while true {
            let length: Int
            switch parser.parseScalar(from: &rest) {
            case .valid(let encoded):
                let scalar = UTF8.decode(encoded)
                length = encoded.count
                if !escapes.contains(scalar.value) {
                    text.append(scalar)
                    index += length
                    continue
                }
            case .error(let count): length = count
            case .emptyInput: return String(text)
            }
            for byte in bytes.dropFirst(index).prefix(length) {
                if let scalar = Unicode.Scalar(base + UInt32(byte)) { text.append(scalar) }
            }
            index += length
        }
    }

    /// The word as it was given.
    static func bytes(_ text: String) -> [UInt8] {
        text.unicodeScalars.flatMap { scalar in
            escapes.contains(scalar.value) ? [UInt8(truncatingIfNeeded: scalar.value)] : Array(String(scalar).utf8)
        }
    }

    /// For C, with a zero byte at the end.
    static func terminated(_ text: String) -> [CChar] { bytes(text).map { CChar(bitPattern: $0) } + [0] }

    static func isUTF8(_ text: String) -> Bool { !text.unicodeScalars.contains { escapes.contains($0.value) } }

    /// For people: bytes that are not UTF-8 become replacement characters.
    static func shown(_ text: String) -> String {
        BytePath.named(in: isUTF8(text) ? text : String(decoding: bytes(text), as: UTF8.self))
    }

    /// The word for where it stands: only a command's words, paths and what a notification says may be anything but UTF-8.
    ///
    /// - Parameter place: where it stands, for an error.
    static func checked(_ word: String, as kind: Completed, in place: @autoclosure () -> String) throws(Failure)
        -> String
    {
        if isUTF8(word) { return word }
        switch kind {
        case .command: return word
        case .directory:
            guard let path = BytePath.text(bytes(word), makes: true) else {
                let reason = errno == ENOTSUP ? "it is not valid UTF-8, which needs /proc" : Failure.systemError
                throw Failure(.usage, "cannot open \(word): \(reason)")
            }
            return path
        // A file need not exist; opening it reports that.
        case .file: return BytePath.text(bytes(word)) ?? word
        case .fileAfterAt where word.hasPrefix("@"):
            return "@" + (BytePath.text(bytes(String(word.dropFirst()))) ?? String(word.dropFirst()))
        case .message: return Charset.guess(bytes(word))
        case .fileAfterAt, .nothing, .words, .desktops, .peers: throw Failure(.usage, "\(place()) is not valid UTF-8")
        }
    }
}
