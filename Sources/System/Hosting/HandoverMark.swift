import Glibc
import Synchronization

/// Records up to which arrival callbacks may have received stored events: a small file beside the database.
///
/// It is written right before a callback runs, and never synced. What a process has written outlives the process, also a
/// killed one; only the end of the whole machine can lose it. So the file names the boot that it is from. After another
/// one, or if the file can't be used, what was offered counts: more may then be called redelivered than callbacks have
/// seen, but never less.
///
/// Programs that share a state directory have one file together, with a slot for each.
package final class HandoverMark: Sendable {
    private static let bootBytes = 40
    private static let bytes = bootBytes + MemoryLayout<Int64>.size

    /// Room for one, with some to spare.
    private static let slotBytes: Int64 = 64

    private let descriptor: Int32
    private let offset: off_t
    /// The machine's boot, padded with zeros.
    private let boot: [UInt8]
    /// What the file says. An event that comes again has a lower arrival than what an earlier run has seen.
    private let seen = Atomic(Int64.min)

    /// `nil` = the file can't be opened, or the machine doesn't tell its boot. The file is then removed: what it says
    /// would be too little after this run.
    ///
    /// - Parameter slot: 0 to 2^32; another number is taken as the next of these.
    package init?(path: String, slot: Int64 = 0) {
        offset = off_t(max(0, min(slot, 1 << 32)) * Self.slotBytes)
        let boot = Self.bootID()
        descriptor = boot == nil ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0o600)
        guard let boot, descriptor >= 0 else {
            unlink(path)
            return nil
        }
        self.boot = boot
    }

    deinit { close(descriptor) }

    /// Through which arrival callbacks of earlier runs may have seen events. From now on the file counts.
    ///
    /// - Parameters:
    ///   - handed: everything through this one was handed over, as the database has it.
    ///   - offered: no callback can have seen an event beyond this one.
    package func begin(handed: Int64, offered: Int64) -> Int64 {
        var seen = offered
        // One that is behind what was handed over is of another database.
        if let noted = noted(), noted >= handed { seen = min(seen, noted) }
        // The boot comes last: a process that ends in between must not leave it before a number of another boot.
        self.seen.store(seen, ordering: .relaxed)
        writeNote(seen)
        boot.withUnsafeBytes { write($0, at: 0) }
        return seen
    }

    /// A callback is about to see the event with this arrival. Never goes back: a run that ends early, among events that
    /// came again, leaves what earlier runs have seen. One thread at a time.
    package func note(_ arrival: Int64) {
        guard arrival > seen.load(ordering: .relaxed) else { return }
        seen.store(arrival, ordering: .relaxed)
        writeNote(arrival)
    }

    private func writeNote(_ arrival: Int64) { withUnsafeBytes(of: arrival) { write($0, at: Self.bootBytes) } }

    private func noted() -> Int64? {
        var bytes = [UInt8](repeating: 0, count: Self.bytes)
        guard pread(descriptor, &bytes, bytes.count, offset) == bytes.count, bytes.starts(with: boot) else {
            return nil
        }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: Self.bootBytes, as: Int64.self) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at place: Int) {
        // An empty file says nothing, and `offered` counts.
        if pwrite(descriptor, bytes.baseAddress, bytes.count, offset + off_t(place)) != bytes.count {
            ftruncate(descriptor, 0)
        }
    }

    private static func bootID() -> [UInt8]? {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: bootBytes)
        let count = read(file, &bytes, bytes.count)
        return count >= 36 ? bytes : nil
    }
}
