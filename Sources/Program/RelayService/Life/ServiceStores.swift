internal import Hosting
internal import Relay

/// The stored state of a relay: proofs, and stored frames. Opened before it starts.
package struct ServiceStores: Sendable {
    let memory: RelayMemory
    let frames: FrameDatabase?
    let archived: [ArchivedFrame]
    /// What was wrong with them, for the log.
    package let damage: [String]

    /// Blocks; not for the loop. Without a state directory nothing is kept.
    ///
    /// - Throws: ``ServiceError/Code/busy``, ``ServiceError/Code/notStarted``.
    package static func open(_ settings: ServiceSettings) throws(ServiceError) -> ServiceStores {
        let memory: RelayMemory
        do throws(HostError) { memory = try RelayMemory.open(settings.relay) } catch {
            throw ServiceError(error.code == .busy ? .busy : .notStarted, error.message)
        }
        var damage = memory.damage.map { [$0] } ?? []
        guard let path = memory.directory?.file("frames.db") else {
            return ServiceStores(memory: memory, frames: nil, archived: [], damage: damage)
        }
        do throws(ServiceError) {
            let opened = try FrameDatabase.open(path, maximumBytes: settings.maximumDiskBytes)
            if let path = opened.movedAside {
                damage.append(
                    "the database of stored frames was damaged and was moved aside to \(path); a new one was created. "
                        + "Stored frames are lost")
            }
            return ServiceStores(
                memory: memory, frames: opened.database, archived: opened.frames, damage: damage)
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
