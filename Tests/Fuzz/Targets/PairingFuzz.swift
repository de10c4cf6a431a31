import JSON
import Wire

extension FuzzTarget {
    /// What a person scans or types: a code that was read and shown again is the same code.
    static let pairingTexts = FuzzTarget("pairing-texts", limit: 1_024) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        for now: Int64 in [1_700_000_000_000, .min, .max] {
            if let offer = try? DesktopPairingOffer(parsing: text, now: now) {
                try require(offer.pcPeerID.isShowable, "an id that can't be shown")
                let again = try DesktopPairingOffer(parsing: offer.serialized(), now: now)
                try require(again == offer, "a desktop's code reads back as another one")
            }
            if let offer = try? DevicePairingOffer(parsing: text, now: now) {
                let again = try DevicePairingOffer(parsing: offer.serialized(), now: now)
                try require(again == offer, "a device's code reads back as another one")
            }
        }
        if let code = try? PairingTypedCode(parsing: text) {
            try require(try PairingTypedCode(parsing: code.text) == code, "a typed code reads back as another one")
            try require(code.alias.text.utf8.count == 19, "an alias with more than six digits")
        }
        let shown = PairingDeviceInfo(name: text, platform: text).name
        try require(PairingDeviceInfo(name: shown, platform: "").name == shown, "a name that is cleaned twice differs")
        try require(
            !shown.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f }, "a control character is shown")
    }

    /// Every message of the pairing flows: read, written and read again.
    static let pairingPayloads = FuzzTarget("pairing-payloads") { bytes in
        guard let object = JSONValue(fuzzed: bytes)?.object else { return }
        if let ack = try? PairAck(decoding: object) {
            try require(try PairAck(decoding: ack.json.object ?? [:]).json == ack.json, "an ack")
        }
        if let confirmation = try? PairingConfirmation(decoding: object) {
            // Without a MAC what else a seal needs is not written.
            let again = try PairingConfirmation(decoding: confirmation.json.object ?? [:])
            try require(again.json == confirmation.json, "a confirmation")
        }
        if let reject = try? PairingReject(decoding: object) {
            try require(try PairingReject(decoding: reject.json.object ?? [:]) == reject, "a rejection")
        }
        // These are read by their inner payload, and written whole.
        let inner = object["payload"]?.object ?? object
        if let message = try? PairingChallenge(payload: inner) {
            try require(try PairingChallenge(payload: message.json["payload"]?.object ?? [:]) == message, "a challenge")
        }
        if let message = try? PairingExchange(payload: inner) {
            try require(try PairingExchange(payload: message.json["payload"]?.object ?? [:]) == message, "an exchange")
        }
        if let message = try? PairingHello(payload: inner) {
            try require(try PairingHello(payload: message.json["payload"]?.object ?? [:]) == message, "a hello")
        }
        if let message = try? ICEConfig(payload: inner) {
            try require(try ICEConfig(payload: message.json["payload"]?.object ?? [:]) == message, "ICE servers")
        }
    }
}
