import CLinux
import Glibc
import Hosting
import JSON

/// The process at the other end of a guest's connection, for messages to people.
struct HolderProcess: Sendable {
    /// 0 = not known, as from within another container.
    let number: pid_t

    init(of descriptor: CInt) { number = linux_peer_process(descriptor) }

    /// Why a call fails whose holder has stopped answering.
    ///
    /// - Parameter mayHappen: whether the holder has been sent the call.
    func silence(mayHappen: Bool) -> HostError {
        let later = mayHappen ? "; if it continues, the call may still be carried out" : ""
        return HostError(
            .busy,
            "\(description) has the state directory and does not answer; let it continue, or end it\(later)",
            detail: [
                "reason": "holder_silent", "process": .integer(Int64(number)), "application": .string(name ?? ""),
            ])
    }

    private var description: String {
        guard number > 0, let name else { return "another program" }
        return "\(name) (process \(number))"
    }

    /// As in the list of processes.
    private var name: String? {
        let file = open("/proc/\(number)/comm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        guard count > 1 else { return nil }
        let printable = bytes.prefix(count - 1).map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: "?") : $0 }
        return String(decoding: printable, as: UTF8.self)
    }
}
