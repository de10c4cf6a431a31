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
protocol StubMachine: PairingMachine where Known == StubPeer {
    var storing: Set<PeerID> { get set }
    var isShown: Bool { get set }
    var removals: [PeerID] { get set }
    /// How many frames it was given.
    var asked: Int { get set }
    var dropped: DroppedFrames { get set }
}

extension StubMachine {
    var isActive: Bool { isShown || !storing.isEmpty }
    var endsUnawaited: Bool { isShown }

    mutating func received(_ frame: PairingFrame, now: EpochMilliseconds) -> Steps {
        asked += 1
        guard isActive else { return [] }
        switch frame.payload["type"]?.string {
        case "store":
            storing.insert(frame.from)
            return [.store(StubPeer(id: frame.from))]
        case "take", PayloadType.event: return say(frame.from)
        case "wrong":
            dropped.wrongCode += 1
            return []
        default: return []
        }
    }

    mutating func timedOut(now: EpochMilliseconds) -> Steps { cancel(.expired) }

    mutating func cancel(_ reason: PairingReason) -> Steps {
        guard isShown else { return [] }
        isShown = false
        return [.report(.deviceScan(.failed(PairingFailure(reason))))]
    }

    mutating func stored(_ peer: StubPeer, now: EpochMilliseconds) -> Steps {
        storing.remove(peer.id)
        return say(peer.id)
    }

    mutating func storeFailed(_ peer: StubPeer, detail: String?) -> Steps {
        storing.remove(peer.id)
        return [.report(.deviceScan(.failed(PairingFailure(.storeFailed))))]
    }

    mutating func removed(_ id: PeerID) { removals.append(id) }

    mutating func show() -> Steps {
        isShown = true
        return [.startTimer(after: 7)]
    }

    private func say(_ peer: PeerID) -> Steps {
        [.send(.reject(PairingReject(code: PairingCode("123456"))), to: peer, sealed: true, .lastHeard())]
    }
}

struct FirstStub: StubMachine {
    static let flow = PairingFlow.scan
    var storing: Set<PeerID> = []
    var isShown = false
    var removals: [PeerID] = []
    var asked = 0
    var dropped = DroppedFrames()
    var heldRoutes: [PairingRoute] { isShown ? [PairingRoute(.relay, url: "ws://held.test")] : [] }
}

/// Takes alone what says its code.
struct CodeStub: StubMachine {
    static let flow = PairingFlow.code
    var storing: Set<PeerID> = []
    var isShown = false
    var removals: [PeerID] = []
    var asked = 0
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
    var asked = 0
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
