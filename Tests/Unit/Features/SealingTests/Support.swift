import Glibc
import Identity
import Wire

@testable import Sealing

/// A peer of its own: a key and its id.
struct Party {
    let key: SigningKey

    init() throws { key = try SigningKey.generate() }

    var id: PeerID { PeerID(key.did) }

    func sealer(
        epoch: Int64 = 1, windows: [PeerID: ReplayWindow] = [:], limits: Sealer.Limits = .init()
    ) -> Sealer {
        Sealer(key: key, epoch: epoch, windows: windows, limits: limits)
    }
}

extension Sealer {
    /// The kind of the refusal; `nil` when it opened.
    func refusal(_ work: () throws -> Void) -> SealError.Code? {
        do { try work() } catch let error as SealError { return error.code } catch { return nil }
        return nil
    }
}

/// A folder of its own for one test, removed at its end.
final class Scratch {
    let directory: String

    init() throws {
        var template = Array("/tmp/bellwire-seal-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SealError(.malformed, "no scratch directory") }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        rmdir(directory)
    }

    var path: String { "\(directory)/test.db" }
}
