import CUV

extension TransportError {
    /// A libuv (negative `errno`) result as an error: "`what`: connection refused".
    init(uv result: CInt, _ code: Code, _ what: String) {
        self.init(code, "\(what): \(Self.uvText(result))")
    }

    static func uvText(_ result: CInt) -> String {
        var text = [CChar](repeating: 0, count: 128)
        uv_strerror_r(result, &text, text.count)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
