// What sessions cost in processor time: a handshake on both sides together, sealing and opening 400 bytes, and the same
// with the frame's JSON. Prints one JSON object. `--short` makes a few of each and holds no bound.
//
// Bounds: a handshake 1 ms; sealing and opening 400 bytes 3 µs each. Exit: 0 all held; 1 one was missed; 2 it failed.
import Glibc
import Identity
import JSON
import Sealing
import Wire

let isShort = CommandLine.arguments.contains("--short")
let handshakes = isShort ? 20 : 500
let frames = isShort ? 1_000 : 60_000

func fail(_ what: String) -> Never {
    print("sessions: \(what)")
    exit(2)
}

func processorTime() -> Double {
    var moment = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &moment)
    return Double(moment.tv_sec) * 1e9 + Double(moment.tv_nsec)
}

/// Nanoseconds each: the best of seven rounds, so that what else the machine does counts little.
func measure(_ count: Int, _ work: (Int) -> Void) -> Double {
    (0..<(isShort ? 1 : 7)).map { round in
        let begin = processorTime()
        for index in 0..<count { work(round * count + index) }
        return (processorTime() - begin) / Double(count)
    }.min() ?? 0
}

struct Pair {
    var device: SessionStateMachine
    var desktop: SessionStateMachine
    var now: UInt64 = 0

    init(_ device: SigningKey, _ desktop: SigningKey) {
        let psk = PresharedKey(.random(), deviceID: device.did, desktopID: desktop.did)
        guard let psk,
            let initiator = try? SessionPair(
                role: .initiator, ownID: PeerID(device.did), own: AgreementKey(device), peerID: PeerID(desktop.did),
                presharedKey: psk),
            let responder = try? SessionPair(
                role: .responder, ownID: PeerID(desktop.did), own: AgreementKey(desktop), peerID: PeerID(device.did),
                presharedKey: psk)
        else { fail("no pair") }
        var limits = SessionLimits()
        limits.frames = .max
        self.device = SessionStateMachine(initiator, limits: limits)
        self.desktop = SessionStateMachine(responder, limits: limits)
    }

    /// Both sides' work, through the frames' JSON, until the desktop has confirmed keys.
    mutating func handshake() {
        now += 60_000
        do {
            guard case .send(let first)? = device.registered(now: now, seed: SessionSeed.random).first else {
                fail("no step 1")
            }
            let received = try HandshakeFrame(decoding: first.json)
            guard case .send(let second)? = try desktop.receive(received, now: now, seed: SessionSeed.random).first
            else { fail("no step 2") }
            let answer = try HandshakeFrame(decoding: second.json)
            guard try device.receive(answer, now: now, seed: SessionSeed.random) == [.greet] else { fail("no session") }
        } catch { fail("\(error)") }
        guard open(seal(hello)) else { fail("the keys were not confirmed") }
    }

    mutating func seal(_ body: JSONObject) -> SessionFrame {
        guard case .sealed(let frame, _) = device.seal(body, timestamp: 0, now: now, seed: SessionSeed.random) else {
            fail("not sealed")
        }
        return frame
    }

    mutating func open(_ frame: SessionFrame) -> Bool {
        if case .opened = desktop.open(frame, now: now, seed: SessionSeed.random) { true } else { false }
    }
}

let hello: JSONObject = ["type": "bellwire:hello", "payload": ["v": 1, "lastPushSeq": 0]]
/// 400 bytes with what is around it in a frame's plaintext.
let body: JSONObject = ["type": "x", "payload": .string(String(repeating: "a", count: 341))]

do {
    try Identity.start()
    let (deviceKey, desktopKey) = (try SigningKey.generate(), try SigningKey.generate())
    var pair = Pair(deviceKey, desktopKey)
    let handshake = measure(handshakes) { _ in pair.handshake() }

    // The seal alone: padding, cipher, counter and window.
    var sealed: [SessionFrame] = []
    sealed.reserveCapacity(frames)
    var seals: [Double] = []
    var opens: [Double] = []
    for _ in 0..<(isShort ? 1 : 7) {
        pair.handshake()
        sealed.removeAll(keepingCapacity: true)
        var begin = processorTime()
        for _ in 0..<frames { sealed.append(pair.seal(body)) }
        seals.append((processorTime() - begin) / Double(frames))
        begin = processorTime()
        for frame in sealed where !pair.open(frame) { fail("a frame was lost") }
        opens.append((processorTime() - begin) / Double(frames))
    }

    // With the frame's JSON and base64, as they travel.
    pair.handshake()
    let text = measure(min(frames, 20_000)) { _ in
        let bytes = JSONValue.object(pair.seal(body).json).serializedBytes()
        guard let payload = try? JSONValue(parsing: bytes).object, let frame = try? SessionFrame(decoding: payload),
            pair.open(frame)
        else { fail("a frame was lost") }
    }
    let (seal, open) = (seals.min() ?? 0, opens.min() ?? 0)
    let result: JSONValue = [
        "handshake_ns": .integer(Int64(handshake)), "seal_400_ns": .integer(Int64(seal)),
        "open_400_ns": .integer(Int64(open)), "both_as_json_ns": .integer(Int64(text)),
    ]
    print(result.serialized())
    exit(isShort || (handshake <= 1_000_000 && seal <= 3_000 && open <= 3_000) ? 0 : 1)
} catch { fail("\(error)") }
