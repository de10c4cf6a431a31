import Glibc

extension BusError {
    /// A negative `errno` of sd-bus's as an error: "`what`: Permission denied".
    init(result: CInt, _ what: String) {
        // Not negated: the lowest number has no positive.
        let number = result < 0 ? CInt(truncatingIfNeeded: result.magnitude) : 0
        var text = [CChar](repeating: 0, count: 128)
        // POSIX's form: writes into what it is given.
        let reason =
            strerror_r(number, &text, text.count) == 0
            ? String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            : "error \(number)"
        self.init(Self.code(of: number), "\(what): \(reason)")
    }

    private static func code(of number: CInt) -> Code {
        switch number {
        case EINVAL, ENXIO: .invalid
        case ENOBUFS: .tooMany
        case ETIMEDOUT: .timeout
        case EBADMSG: .malformed
        default: .disconnected
        }
    }
}
