import COnDemand
import Synchronization

/// libsystemd, loaded when a bus is first connected to. Without it there are no buses, and everything else works.
///
/// It takes about two megabytes, so it is loaded only if there is a bus to connect to.
package final class SystemdLibrary: Sendable {
    /// That of the machine.
    package static let shared = SystemdLibrary(named: "libsystemd.so.0")

    private enum State {
        case unasked
        case loaded
        case unusable(BusError)
    }

    private let name: String
    private let state = Mutex(State.unasked)

    init(named name: String) { self.name = name }

    /// Whether anybody has asked for it.
    var isAsked: Bool {
        state.withLock { state in
            switch state {
            case .unasked: false
            case .loaded, .unusable: true
            }
        }
    }

    /// Loads it, the first time. Why it cannot be used; `nil` = it can.
    func load() -> BusError? {
        state.withLock { state in
            switch state {
            case .loaded: return nil
            case .unusable(let error): return error
            case .unasked: break
            }
            var why = [CChar](repeating: 0, count: 256)
            guard bw_systemd_load(name, &why, why.count) < 0 else {
                state = .loaded
                return nil
            }
            let reason = String(decoding: why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let error = BusError(.unavailable, "cannot load \(name), so D-Bus is not available: \(reason)")
            state = .unusable(error)
            return error
        }
    }
}
