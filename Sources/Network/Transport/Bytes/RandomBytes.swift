import CUV
import Glibc

/// Random bytes of the kernel's.
enum RandomBytes {
    static func fill(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { buffer in
            var rest = UnsafeMutableRawBufferPointer(rebasing: buffer[...])
            while !rest.isEmpty, let base = rest.baseAddress {
                let count = bw_random(base, rest.count)
                // Once the kernel's pool is filled (before any program runs), only a signal can interrupt it.
                guard count > 0 else {
                    precondition(errno == EINTR, "the kernel returned no random bytes")
                    continue
                }
                rest = UnsafeMutableRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    static func make(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        fill(&bytes)
        return bytes
    }
}
