import CArguments
import Glibc

/// The words of the command line, without the program's name, as ``Word`` has them.
enum CommandLineWords {
    static func read() -> [String] {
        (1..<max(1, bw_word_count())).compactMap { index in
            bw_word(index).map { Word.text(Array(UnsafeRawBufferPointer(start: $0, count: strlen($0)))) }
        }
    }

    static var haveJSON: Bool { read().contains("--json") }
}
