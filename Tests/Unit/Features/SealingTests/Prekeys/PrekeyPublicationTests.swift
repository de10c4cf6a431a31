import Identity
import Testing

@testable import Sealing

/// Which prekeys a device offers, and which of them a desktop uses (WirePrekeys, "Publication").
@Suite struct PrekeyPublicationTests {
    /// Carries out what one publication decides, without a store.
    private struct Device {
        var publication = PrekeyPublication()
        var statements: [PrekeyStatement] = []
        var made = 0

        mutating func act(_ actions: [PrekeyPublication.Action], now: UInt64) {
            for action in actions {
                switch action {
                case .state(let statement): statements.append(statement)
                case .make(let count, let lastResort):
                    made += count
                    let keys = (0..<count).map { _ in AgreementKey.generate().publicKey }
                    act(
                        publication.made(
                            keys, lastResort: lastResort ? AgreementKey.generate().publicKey : nil, now: now), now: now)
                }
            }
        }

        mutating func begin(now: UInt64) { act(publication.sessionBegan(now: now), now: now) }
        mutating func ranLow(_ left: Int, now: UInt64) { act(publication.ranLow(left: left, now: now), now: now) }
    }

    private static let day = PrekeyLimits().day

    @Test("the first session states 32 prekeys and a last resort; the next ones state the same, without new ones")
    func sessions() throws {
        var device = Device()
        device.begin(now: 0)
        let first = try #require(device.statements.first)
        #expect(first.keys.count == 32)
        device.begin(now: 1)
        #expect(device.statements == [first, first])
        #expect(device.made == 32)
    }

    @Test("a used prekey is offered no more; with fewer than 16 new ones are made at the next session")
    func used() throws {
        var device = Device()
        device.begin(now: 0)
        let first = try #require(device.statements.first)
        for key in first.keys.prefix(16) { device.publication.used(PrekeyID(key)) }
        device.begin(now: 1)
        #expect(device.statements.last?.keys == Array(first.keys.suffix(16)))
        device.publication.used(PrekeyID(first.keys[16]))
        device.begin(now: 2)
        let second = try #require(device.statements.last)
        #expect(second.keys.count == 32 && Array(second.keys.prefix(15)) == Array(first.keys.suffix(15)))
        #expect(device.made == 49)
        // The last resort is not used up.
        device.publication.used(PrekeyID(first.lastResort))
        #expect(second.lastResort == first.lastResort)
    }

    @Test("a last resort lasts a day")
    func daily() throws {
        var device = Device()
        device.begin(now: 5)
        device.begin(now: 4 + Self.day)
        device.begin(now: 5 + Self.day)
        let last = device.statements.map(\.lastResort)
        #expect(last[0] == last[1] && last[1] != last[2])
        #expect(device.statements[0].keys == device.statements[2].keys)
    }

    @Test("a desktop that runs low gets new ones for those it has used, every 10 seconds at most")
    func shortage() throws {
        var device = Device()
        device.begin(now: 0)
        let first = try #require(device.statements.first)
        device.ranLow(16, now: 0)
        #expect(device.made == 32, "16 are enough")
        device.ranLow(3, now: 0)
        let second = try #require(device.statements.last)
        #expect(device.made == 32 + 29)
        #expect(Array(second.keys.prefix(3)) == Array(first.keys.suffix(3)), "the unused ones are the newest")
        device.ranLow(0, now: 9_999)
        #expect(device.made == 32 + 29)
        device.ranLow(0, now: 10_000)
        #expect(device.made == 32 + 29 + 32)
        #expect(device.statements.allSatisfy { $0.keys.count == 32 })
        for now in 0..<1_000 { device.ranLow(Int.min, now: 10_000 + UInt64(now)) }
        #expect(device.made == 32 + 29 + 32, "however often it asks")
    }

    @Test("a desktop that asks before anything was offered gets all, whatever it says that it has left")
    func neverOffered() {
        var device = Device()
        device.ranLow(10, now: 0)
        #expect(device.made == 32 && device.statements.map(\.keys.count) == [32])
        var publication = PrekeyPublication()
        #expect(publication.sessionBegan(now: 0) == [.make(32, lastResort: true)])
        publication.failed()
        #expect(publication.ranLow(left: 0, now: 1) == [.make(32, lastResort: true)])
    }

    @Test("while some are being made nothing else is; a failure is tried again")
    func making() {
        var publication = PrekeyPublication()
        #expect(publication.sessionBegan(now: 0) == [.make(32, lastResort: true)])
        #expect(publication.sessionBegan(now: 1) == [])
        publication.failed()
        #expect(publication.sessionBegan(now: 2) == [.make(32, lastResort: true)])
    }

    @Test("after pairing anew nothing of before is offered")
    func pairedAnew() throws {
        var device = Device()
        device.begin(now: 0)
        let (first, round) = (try #require(device.statements.first), device.publication.round)
        device.publication.begin()
        #expect(device.publication.round != round)
        device.begin(now: 1)
        let second = try #require(device.statements.last)
        #expect(Set(first.keys).isDisjoint(with: second.keys) && first.lastResort != second.lastResort)
    }

    // MARK: The desktop

    private func statement(_ count: Int) -> PrekeyStatement {
        PrekeyStatement(
            keys: (0..<count).map { _ in AgreementKey.generate().publicKey },
            lastResort: AgreementKey.generate().publicKey)
    }

    @Test("each push gets the oldest unused prekey, and the last resort when they are used up")
    func order() throws {
        var stock = PrekeyStock()
        #expect(stock.take() == nil && stock.left == 0)
        let statement = statement(3)
        stock.apply(statement)
        for (index, key) in statement.keys.enumerated() {
            #expect(stock.take()?.key == key)
            #expect(stock.left == 2 - index)
        }
        for _ in 0..<3 { #expect(stock.take() == .init(key: statement.lastResort, isLastResort: true)) }
        #expect(stock.isLow && stock.shortage.left == 0)
    }

    @Test("a prekey that is stated again stays used; one that is not stated any more is forgotten")
    func statedAgain() throws {
        var stock = PrekeyStock()
        let first = statement(4)
        stock.apply(first)
        _ = stock.take()
        _ = stock.take()
        // The device knows of the first one alone.
        let fresh = statement(2)
        stock.apply(PrekeyStatement(keys: Array(first.keys.dropFirst()) + fresh.keys, lastResort: fresh.lastResort))
        #expect(stock.entries.count == 6 && stock.left == 4)
        #expect(stock.take()?.key == first.keys[2])
        // Nothing of a device that begins anew is used again.
        let other = statement(1)
        stock.apply(other)
        #expect(stock.take()?.key == other.keys[0])
        #expect(stock.take()?.key == other.lastResort)
    }

    @Test("between a device and a desktop no single-use prekey is ever used twice, whatever is lost")
    func model() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            var device = Device()
            var stock = PrekeyStock()
            var used: Set<PrekeyID> = []
            var now: UInt64 = 0
            device.begin(now: now)
            for _ in 0..<300 {
                now += UInt64.random(in: 0...20_000, using: &generator)
                switch Int.random(in: 0..<8, using: &generator) {
                case 0: device.begin(now: now)
                case 1: if let statement = device.statements.last { stock.apply(statement) }
                case 2: if stock.isLow { device.ranLow(stock.left, now: now) }
                default:
                    guard let entry = stock.take(), !entry.isLastResort else { continue }
                    #expect(used.insert(PrekeyID(entry.key)).inserted)
                    // Some pushes never come.
                    if Bool.random(using: &generator) { device.publication.used(PrekeyID(entry.key)) }
                }
                #expect(stock.entries.count <= 33 && (device.statements.last?.keys.count ?? 0) <= 32)
            }
        }
    }
}
