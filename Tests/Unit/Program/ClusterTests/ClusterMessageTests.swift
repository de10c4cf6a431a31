import Relay
import TestSupport
import Testing

@testable import Cluster

@Suite struct ClusterMessageTests {
    static let device: Device = {
        var device = Device()
        (device.kind, device.info) = (.desktop, Array("{}".utf8))
        return device
    }()

    static let claim = Claim(stamp: -5, node: Array("one".utf8), isProved: true)
    static let messages: [ClusterMessage] = [
        .frames([ClusterMessage.Frame(sender: Array("bob".utf8), isSealed: true, bytes: [1])]),
        .frames([
            ClusterMessage.Frame(
                sender: Array(repeating: 255, count: 256), isSealed: false, bytes: Array(repeating: 0, count: 100_000)),
            ClusterMessage.Frame(sender: [0], isSealed: true, bytes: [2, 3]),
        ]),
        .kept(Relay.Kept(bytes: [2, 3], storedAt: .max, isSealed: false)),
        .kept(Relay.Kept(bytes: [2], storedAt: .min, isSealed: true)),
        .ask, .claim(claim), .holds(Claim(stamp: .max, node: [0], isProved: false)),
        .here(isProved: true, Whereabouts(device: device, registeredAt: 7)),
        .here(isProved: false, Whereabouts(device: Device(), registeredAt: -1)), .left, .compare,
    ]

    @Test(arguments: [Array("alice".utf8), [0], Array(repeating: 7, count: 256)])
    func everyMessageReadsAsWhatItWas(_ name: [UInt8]) {
        for message in Self.messages {
            let read = ClusterMessage.read(message.bytes(about: name))
            #expect(read?.name == name && read?.message == message)
        }
    }

    @Test func whatIsCutOrLongerIsNothing() {
        for message in Self.messages {
            let bytes = message.bytes(about: [1, 2, 3])
            for count in 0..<min(bytes.count, 40) where ClusterMessage.read(Array(bytes.prefix(count))) != nil {
                // A kept frame and a device may end anywhere.
                guard case (_, let read)? = ClusterMessage.read(Array(bytes.prefix(count))) else { continue }
                switch read {
                case .kept, .here: break
                default: Issue.record("\(count) bytes of \(bytes.count)")
                }
            }
            switch message {
            case .kept, .here: break
            default: #expect(ClusterMessage.read(bytes + [0]) == nil)
            }
        }
    }

    @Test func wrongVersionsKindsFlagsAndNamesAreNothing() {
        let good = ClusterMessage.ask.bytes(about: [1])
        #expect(ClusterMessage.read(good) != nil)
        for (place, value) in [(0, 0), (0, 2), (1, 0), (1, 9), (1, 255), (2, 1), (2, 2), (4, 0), (3, 255)] {
            var bytes = good
            bytes[place] = UInt8(value)
            #expect(ClusterMessage.read(bytes) == nil, "byte \(place) is \(value)")
        }
        #expect(ClusterMessage.read(ClusterMessage.ask.bytes(about: Array(repeating: 1, count: 257))) == nil)
        #expect(ClusterMessage.read(ClusterMessage.ask.bytes(about: [])) == nil)
        var device = Device()
        device.info = Array(repeating: 0, count: 1_025)
        let long = ClusterMessage.here(isProved: true, Whereabouts(device: device, registeredAt: 0))
        #expect(ClusterMessage.read(long.bytes(about: [1])) == nil)
    }

    @Test func severalFramesAreReadWholeOrNotAtAll() {
        #expect(ClusterMessage.read(ClusterMessage.frames([]).bytes(about: [1])) == nil)
        let empty = ClusterMessage.Frame(sender: [1], isSealed: false, bytes: [])
        #expect(ClusterMessage.read(ClusterMessage.frames([empty]).bytes(about: [1])) == nil)
        // Its length says more than there is.
        var bytes = ClusterMessage.frames([ClusterMessage.Frame(sender: [1], isSealed: false, bytes: [9])]).bytes(
            about: [1])
        bytes[bytes.count - 5] = 255
        #expect(ClusterMessage.read(bytes) == nil)
    }

    @Test func anAnswerForEachFrame() {
        #expect(FramesAnswer.bytes([true, true]) == [1])
        for taken in [[true], [false], [true, false], [false, false, true], [true, true, true]] {
            #expect(FramesAnswer.read(FramesAnswer.bytes(taken), count: taken.count) == taken)
        }
        for other in [nil, [], [2, 2, 2, 2], [0], [255, 255]] as [[UInt8]?] {
            #expect(FramesAnswer.read(other, count: 3) == [false, false, false])
        }
    }

    @Test func answersAreOneByte() {
        #expect(ClusterAnswer.read([1]) == .taken && ClusterAnswer.read([8]) == .gaveWay)
        for bytes in [[], [0], [9], [1, 1]] as [[UInt8]] { #expect(ClusterAnswer.read(bytes) == nil) }
    }

    @Test func subjectsAreOfOnesOwnAndDiffer() {
        let subject = ClusterSubject.holder(of: Array("alice".utf8))
        #expect(subject.hasPrefix("bw.p.") && subject.split(separator: ".").count == 4)
        let names = ["alice", "Alice", "alice ", "", "a.b.*.>"].map { Array($0.utf8) }
        #expect(Set(names.map { ClusterSubject.holder(of: $0) }).count == names.count)
        #expect(ClusterSubject.status(of: names[0]) != subject)
    }
}
