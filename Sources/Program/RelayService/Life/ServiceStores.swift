internal import Hosting
internal import Relay

/// The stored state of a relay: proofs, and stored frames. Opened before it starts.
package struct ServiceStores: Sendable {
    let memory: RelayMemory
    let frames: FrameDatabase?
    let archived: [ArchivedFrame]
    /// Damaged files that were moved aside.
    package let movedAside: [String]

    /// Blocks; not for the loop. Without a state directory nothing is kept.
    ///
    /// - Throws: ``ServiceError/Code/busy``, ``ServiceError/Code/notStarted``.
    package static func open(_ settings: ServiceSettings) throws(ServiceError) -> ServiceStores {
        let memory: RelayMemory
        do throws(HostError) { memory = try RelayMemory.open(settings.relay) } catch {
            throw ServiceError(error.code == .busy ? .busy : .notStarted, error.message)
        }
        var movedAside = memory.movedAside.map { [$0] } ?? []
        guard let path = memory.directory?.file("frames.db") else {
            return ServiceStores(memory: memory, frames: nil, archived: [], movedAside: movedAside)
        }
        do throws(ServiceError) {
            let opened = try FrameDatabase.open(path, maximumBytes: settings.maximumDiskBytes)
            if let path = opened.movedAside { movedAside.append(path) }
            return ServiceStores(
                memory: memory, frames: opened.database, archived: opened.frames, movedAside: movedAside)
        } catch {
            memory.close {}
            throw error
        }
    }

    /// Closes both, after everything that was to be written.
    func close(then: @escaping @Sendable () -> Void) {
        guard let frames else { return memory.close(then: then) }
        frames.close { [memory] in memory.close(then: then) }
    }
}
