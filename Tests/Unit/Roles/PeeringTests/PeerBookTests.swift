import Pairing
import TestSupport
import Testing
import Wire

@testable import Peering

private struct Known: Peer, Equatable {
    let id: PeerID
    var name = ""
}

@Suite struct PeerBookTests {
    private struct Session: Equatable {
        var heard = 0
        var seqs: [Int] = []
    }

    @Test("a session stays while its peer is brought up to date, and goes with it")
    func sessions() {
        var book = PeerBook([Known(id: PeerID("a")), Known(id: PeerID("b"))]) { _ in Session() }
        book[PeerID("a")]?.heard = 7
        book[PeerID("nobody")]?.heard = 7
        #expect(book.upsert(Known(id: PeerID("a"), name: "new")) { Session() } == false)
        #expect(book.peer(PeerID("a"))?.name == "new")
        #expect(book[PeerID("a")]?.heard == 7 && book[PeerID("nobody")] == nil)
        #expect(book.forget(PeerID("a"))?.heard == 7)
        #expect(book.forget(PeerID("a")) == nil)
        #expect(book.upsert(Known(id: PeerID("a"))) { Session() } == true)
        #expect(book[PeerID("a")]?.heard == 0)
        #expect(book.ids == [PeerID("b"), PeerID("a")])
        book.update(Known(id: PeerID("c")))
        #expect(!book.contains(PeerID("c")))
    }

    @Test("a session's arrays are changed in place, not copied")
    func inPlace() {
        var book = PeerBook([Known(id: PeerID("a"))]) { _ in Session(seqs: Array(0..<64)) }
        let before = book[PeerID("a")]?.seqs.withUnsafeBufferPointer { $0.baseAddress }
        book[PeerID("a")]?.seqs[3] = 9
        #expect(book[PeerID("a")]?.seqs.withUnsafeBufferPointer { $0.baseAddress } == before)
    }

    @Test("does what a list of pairs does", arguments: 0..<20 as Range<UInt64>)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var book = PeerBook<Known, Session>()
        var list: [(Known, Session)] = []
        for step in 0..<400 {
            let id = PeerID("p\(Int.random(in: 0..<8, using: &generator))")
            let place = list.firstIndex { $0.0.id == id }
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                book.upsert(Known(id: id, name: "\(step)")) { Session(heard: step) }
                if let place {
                    list[place].0.name = "\(step)"
                } else {
                    list.append((Known(id: id, name: "\(step)"), Session(heard: step)))
                }
            case 1:
                #expect(book.forget(id) == place.map { list.remove(at: $0).1 })
            case 2:
                book[id]?.seqs.append(step)
                if let place { list[place].1.seqs.append(step) }
            default:
                book.forEach { $1.heard += $0.name.utf8.count }
                for index in list.indices { list[index].1.heard += list[index].0.name.utf8.count }
            }
            #expect(book.peers == list.map(\.0))
            for (known, session) in list { #expect(book[known.id] == session && book.peer(known.id) == known) }
        }
    }

    @Test("the store hears of a peer once a minute, or when its row changes anyway")
    func lastSeen() {
        var seen = LastSeen()
        #expect(seen.isDue(at: 5) == true)
        #expect(seen.isDue(at: 60_004) == false)
        #expect(seen.isDue(at: 60_005) == true)
        #expect(seen.isDue(at: 60_006, always: true) == true)
        #expect(seen.isDue(at: 120_005) == false)
        #expect(seen.isDue(at: 120_006) == true)
    }
}
