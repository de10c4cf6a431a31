import JSON
import TestSupport
import Testing

@testable import Relay

/// A disk as the archive keeps it, driven by what the machine tells.
private struct Disk {
    private(set) var rows: [Int64: ArchivedFrame] = [:]

    mutating func keep(_ changes: [ArchiveChange]) {
        for change in changes {
            switch change {
            case .kept(let frame):
                #expect(rows[frame.sequence] == nil)
                rows[frame.sequence] = frame
            case .gone(let sequence): #expect(rows.removeValue(forKey: sequence) != nil)
            }
        }
    }

    var frames: [ArchivedFrame] { rows.values.sorted { $0.sequence < $1.sequence } }
}

@Suite("Stored frames outlive the relay")
struct RelayArchiveTests {
    private func send(
        _ payload: Int, to name: String, from id: ConnectionID, isSealed: Bool = false, _ bench: inout Bench
    ) {
        bench.receive(
            #"{"type":"message","to":"\#(name)","sealed":\#(isSealed),"payload":\#(payload)}"#, from: id)
    }

    private func delivered(_ id: ConnectionID, _ bench: inout Bench) -> [Int64] {
        bench.take(id).filter { $0["type"] == "offline-message" }
            .compactMap { $0["originalMessage"]?["payload"]?.integer }
    }

    @Test("what was stored is there after a restart: in order, from whom, when, and sealed as it was")
    func restart() throws {
        var disk = Disk()
        var bench = Bench()
        bench.machine.restore([], at: bench.moment)
        let alice = bench.peer("alice")
        for number in 1...3 { send(number, to: "bob", from: alice, &bench) }
        bench.advance(500)
        send(4, to: "carol", from: alice, isSealed: true, &bench)
        disk.keep(bench.machine.takeArchiveChanges())
        #expect(disk.frames.map(\.isSealed) == [false, false, false, true])
        #expect(disk.frames.map(\.source) == Array(repeating: .network("127.0.0.1"), count: 4))
        let storedAt = bench.moment.epoch

        var again = Bench()
        // Another process, whose monotonic clock has just begun.
        again.moment = Moment(monotonic: 5, epoch: storedAt + 60_000)
        again.machine.restore(disk.frames, at: again.moment)
        #expect(again.machine.takeArchiveChanges().isEmpty)
        #expect(again.machine.absent.frameCount == 4)
        let bob = again.peer("bob")
        let frames = again.take(bob).filter { $0["type"] == "offline-message" }
        #expect(frames.compactMap { $0["originalMessage"]?["payload"]?.integer } == [1, 2, 3])
        #expect(frames.allSatisfy { $0["originalMessage"]?["from"] == "alice" })
        #expect(frames.compactMap { $0["storedAt"]?.integer } == Array(repeating: storedAt - 500, count: 3))
        let carol = again.peer("carol")
        #expect(delivered(carol, &again).isEmpty, "it waits for a proof")
        again.endWrite()
        disk.keep(again.machine.takeArchiveChanges())
        #expect(disk.frames.map(\.peer) == [Array("carol".utf8)])
        // New frames come after the old ones.
        send(5, to: "dave", from: bob, &again)
        disk.keep(again.machine.takeArchiveChanges())
        #expect(disk.frames.map(\.sequence) == [4, 5])
    }

    @Test("age counts from when it was stored, also over a restart; a clock that was set back makes nothing older")
    func age() {
        var bench = Bench { $0.storage.storedFor = 10_000 }
        let epoch = bench.moment.epoch
        func frame(_ sequence: Int64, _ storedAt: Int64) -> ArchivedFrame {
            ArchivedFrame(
                sequence: sequence, peer: Array("p\(sequence)".utf8), source: .network("192.0.2.1"),
                storedAt: storedAt, isSealed: false, bytes: [1])
        }
        bench.machine.restore(
            [frame(1, epoch - 10_001), frame(2, epoch - 9_000), frame(3, epoch + 86_400_000), frame(4, .min)],
            at: bench.moment)
        bench.machine.sweep(at: bench.moment)
        #expect(bench.machine.takeArchiveChanges().count { if case .gone = $0 { true } else { false } } == 2)
        #expect(bench.machine.absent.frameCount == 2)
        bench.advance(1_001)
        bench.machine.sweep(at: bench.moment)
        #expect(bench.machine.takeArchiveChanges() == [.gone(2)])
        bench.advance(9_000)
        bench.machine.sweep(at: bench.moment)
        #expect(bench.machine.takeArchiveChanges() == [.gone(3)])
        #expect(bench.machine.peers.count == 0 && bench.machine.networks.count == 0)
    }

    @Test("limits that have become smaller hold for what is restored, and the disk follows")
    func smallerLimits() {
        let frames = (1...10).map {
            ArchivedFrame(
                sequence: Int64($0), peer: Array("p\($0 % 2)".utf8), source: .network("192.0.2.1"),
                storedAt: 1_700_000_000_000, isSealed: false, bytes: [UInt8($0)])
        }
        var disk = Disk()
        disk.keep(frames.map { .kept($0) })
        var bench = Bench { $0.storage.maximumStoredPerPeer = 2 }
        bench.machine.restore(frames, at: bench.moment)
        disk.keep(bench.machine.takeArchiveChanges())
        #expect(disk.frames.map(\.sequence) == [7, 8, 9, 10])
        #expect(bench.machine.absent.frameCount == 4)
    }

    @Test("shares of senders hold over a restart, and senders are forgotten in the end")
    func shares() {
        func frame(_ sequence: Int64, _ source: ArchivedFrame.Source) -> ArchivedFrame {
            ArchivedFrame(
                sequence: sequence, peer: Array("p".utf8), source: source, storedAt: 1_700_000_000_000,
                isSealed: false, bytes: [1])
        }
        var bench = Bench { $0.storage.storedFor = 1_000 }
        let did = Array("did:key:z6MkSender".utf8)
        bench.machine.restore(
            [frame(1, .network("2001.db8.0.1/64")), frame(2, .proved(did)), frame(3, .proved(did))], at: bench.moment)
        let network = bench.machine.networks.came(from: "2001:db8:0:1::9")
        #expect(bench.machine.networks.count == 2 || bench.machine.absent.holds(network))
        #expect(did.withUnsafeBytes { bench.machine.peers.find($0) } != nil)
        bench.machine.networks.left(network, isCounted: true)
        bench.advance(RelayStateMachine.acquaintanceAge)
        bench.machine.sweep(at: bench.moment)
        #expect(bench.machine.peers.count == 0 && bench.machine.networks.count == 0)
    }

    @Test("whatever happens, the disk has what memory has, and gives it to the next process", arguments: 1...6)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var disk = Disk()
        func limits(_ options: inout RelayOptions) {
            options.storage.maximumStoredPerPeer = 4
            options.storage.maximumAbsentPeers = 6
            options.storage.storedFor = 3_000
            options.names.maximumAcquaintances = 8
        }
        var bench = Bench(limits)
        bench.machine.restore([], at: bench.moment)
        var open: [ConnectionID] = []
        for step in 0..<1_500 {
            switch Int.random(in: 0..<20, using: &generator) {
            case 0...1 where open.count < 8:
                open.append(bench.open(from: "192.0.2.\(Int.random(in: 0..<3, using: &generator))", isLoopback: false))
            case 2:
                guard let id = open.randomElement(using: &generator) else { continue }
                open.removeAll { $0 == id }
                bench.close(id)
            case 3, 4, 5:
                guard let id = open.randomElement(using: &generator) else { continue }
                let name = "p\(Int.random(in: 0..<10, using: &generator))"
                bench.receive(#"{"type":"register","peerId":"\#(name)"}"#, from: id)
            case 6: if !bench.awaited.isEmpty { bench.endWrite() }
            case 7: if !bench.probes.isEmpty { bench.endProbe(answered: Bool.random(using: &generator)) }
            case 8:
                bench.advance(UInt64.random(in: 1...1_500, using: &generator))
                bench.machine.sweep(at: bench.moment)
            case 9 where step % 3 == 0:
                // The process is killed; the next one has what the disk has.
                let moment = Moment(monotonic: UInt64(step), epoch: bench.moment.epoch)
                bench = Bench(limits)
                bench.moment = moment
                bench.machine.restore(disk.frames, at: moment)
                open = []
            default:
                guard let id = open.randomElement(using: &generator) else { continue }
                send(step, to: "p\(Int.random(in: 0..<10, using: &generator))", from: id, &bench)
            }
            disk.keep(bench.machine.takeArchiveChanges())
            #expect(disk.rows.count == bench.machine.absent.frameCount, "step \(step)")
            #expect(disk.rows.count <= 24)
        }
    }
}
