import Glibc

/// The words of the command line, without the program's name.
///
/// Swift's runtime looks for them beside the environment. It finds none if a preloaded library has set a variable before
/// and so moved the environment, as libfaketime does; the kernel still has them then.
enum CommandLineWords {
    static func read() throws(Failure) -> [String] {
        var words: [String] = []
        for (index, word) in bytes().enumerated().dropFirst() {
            guard let word = String(validating: word, as: UTF8.self) else {
                throw Failure(.usage, "argument \(index) is not valid UTF-8")
            }
            words.append(word)
        }
        return words
    }

    /// Also if a word is not valid UTF-8.
    static var haveJSON: Bool { bytes().contains(Array("--json".utf8)) }

    private static func bytes() -> [[UInt8]] {
        if CommandLine.argc > 0 {
            return (0..<Int(CommandLine.argc)).compactMap { index in
                CommandLine.unsafeArgv[index].map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
            }
        }
        // Each word ends with a zero byte.
        return kernelBytes().split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Array($0) }
    }

    private static func kernelBytes() -> [UInt8] {
        let descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &part, part.count)
            if count > 0 {
                bytes += part.prefix(count)
            } else if count == 0 || errno != EINTR {
                return bytes
            }
        }
    }
}
