import JSON
import Pairing
import Sealing
import Wire

@testable import Peering

struct StubPeer: PairedPeer {
    let id: PeerID
    var isSecure = true
}

/// A flow that does what frames tell it: `store` pairs their sender, `take` takes them, `wrong` counts them.
protocol StubMachine: PairingMachine where Known == StubPeer, Action == StubAction {
    var storing: Set<PeerID> { get set }
    var isShown: Bool { get set }
    var removals: [PeerID] { get set }
    var dropped: DroppedFrames { get set }
}

enum StubAction: Sendable, Equatable {
    case store(PeerID)
    case say(PeerID)
    case connect(String)
    case startTimer
    case report(PairingReason?)
}

extension StubMachine {
    static func step(_ action: StubAction) -> PairingStep<StubPeer> {
        switch action {
        case .store(let id): .store(StubPeer(id: id))
        case .say(let id): .send(PairingMessage(flow, ["type": "hi"], to: id, isSealed: true, .lastHeard(nil)))
        case .connect(let url): .connect(PairingRoute(.relay, url: url))
        case .startTimer: .startTimer(after: 7)
        case .report(let reason):
            .report(PairingReport(["flow": .string(flow.rawValue)], reason.map { .failure(PairingFailure($0)) }))
        }
    }

    var isActive: Bool { isShown || !storing.isEmpty }
    var endsUnawaited: Bool { isShown }

    mutating func received(_ frame: PairingFrame, now: EpochMilliseconds) -> [StubAction] {
        guard isActive else { return [] }
        switch frame.payload["type"]?.string {
        case "store":
            storing.insert(frame.from)
            return [.store(frame.from)]
        case "take", PayloadType.event: return [.say(frame.from)]
        case "wrong":
            dropped.wrongCode += 1
            return []
        default: return []
        }
    }

    mutating func timerFired(now: EpochMilliseconds) -> [StubAction] { cancel(because: .expired) }

    mutating func cancel(because reason: PairingReason) -> [StubAction] {
        guard isShown else { return [] }
        isShown = false
        return [.report(reason)]
    }

    mutating func stored(_ peer: StubPeer, now: EpochMilliseconds) -> [StubAction] {
        storing.remove(peer.id)
        return [.say(peer.id)]
    }

    mutating func storeFailed(_ peer: StubPeer, detail: String?) -> [StubAction] {
        storing.remove(peer.id)
        return [.report(.storeFailed)]
    }

    mutating func removed(_ id: PeerID) { removals.append(id) }

    mutating func show() -> [StubAction] {
        isShown = true
        return [.startTimer]
    }
}

struct FirstStub: StubMachine {
    static let flow = PairingFlow.scan
    var storing: Set<PeerID> = []
    var isShown = false
    var removals: [PeerID] = []
    var dropped = DroppedFrames()
    var heldRoutes: [PairingRoute] { isShown ? [PairingRoute(.relay, url: "held")] : [] }
}

/// Takes alone what says its code.
struct CodeStub: StubMachine {
    static let flow = PairingFlow.code
    var storing: Set<PeerID> = []
    var isShown = false
    var removals: [PeerID] = []
    var dropped = DroppedFrames()

    func interest(in frame: PairingFrame, code: PairingCode?) -> PairingInterest {
        frame.payload["code"]?.string == code?.digits && code != nil ? .sole : .none
    }
}

struct LastStub: StubMachine {
    static let flow = PairingFlow.offer
    var storing: Set<PeerID> = []
    var isShown = false
    var removals: [PeerID] = []
    var dropped = DroppedFrames()
}

/// Something of a peer's, with a mark of that number where it is sealed.
func incoming(
    _ from: PeerID, _ type: String, seq: Int64? = nil, code: String? = nil, isStale: Bool = false
) -> Incoming {
    Incoming(
        from: from, payload: ["type": .string(type), "code": code.map(JSONValue.string)],
        mark: seq.map { SealMark(peer: from, epoch: 1, seq: $0, isStale: isStale) })
}
