import Identity
import JSON

extension FuzzTarget {
    /// All of them, in the order of the layers. A new one also gets a folder of inputs in `Corpus`.
    static let all: [FuzzTarget] = [
        json, envelope, websocket, httpHead, addresses, encodings,
        frames, payload, pairingTexts, pairingPayloads, pushService, methods, methodResults, options, handleOptions,
        trigger, calendar,
        images, pictures, drawnCodes,
        sealedEnvelope, sessionFrames, sealedPush, moveStatement, pake, replayWindow,
        desktopOffer, desktopScan, deviceScan, deviceShow, desktopCode, deviceCode,
        relay, registration, outbox, offlineQueue, inboxSync, receiveBudget, fetch, publication,
        nats, natsOptions, cluster,
    ]
}

extension JSONValue {
    /// The input as JSON; `nil` if it is something else.
    init?(fuzzed bytes: [UInt8]) {
        guard let value = try? JSONValue(parsing: bytes) else { return nil }
        self = value
    }
}

/// Keys that never change, so that an input means the same in every run.
struct FuzzKeys: Sendable {
    let keys: [SigningKey]

    static let shared = Result {
        try Identity.start()
        return FuzzKeys(keys: try (1...5).map { try SigningKey(seed: Array(repeating: UInt8($0), count: 32)) })
    }
}
