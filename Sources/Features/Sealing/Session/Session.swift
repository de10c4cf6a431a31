import Identity
import JSON
import Wire

/// One session: its keys, the counter of what it seals, and the window of what it has opened. In memory only.
struct Session {
    let id: SessionID
    /// By the loop's clock, in milliseconds.
    let begin: UInt64
    private let keys: TransportKeys
    private let isInitiator: Bool
    /// The counter of the next frame that is sealed.
    private(set) var sent: UInt64 = 0
    /// One above the highest counter that was opened.
    private(set) var received: UInt64 = 0
    private var window = SessionWindow()

    init(id: SessionID, keys: TransportKeys, isInitiator: Bool, begin: UInt64) {
        self.id = id
        self.keys = keys
        self.isInitiator = isInitiator
        self.begin = begin
    }

    /// How far it is used, by the direction that is further.
    var frames: UInt64 { max(sent, received) }

    /// Throws `too_large`, `exhausted`.
    mutating func seal(
        _ plaintext: SessionPlaintext, lastCounter: UInt64
    ) throws(SealError) -> SessionFrame {
        let content = plaintext.filledBytes
        guard content.count < SessionFrame.plaintextLimit else {
            throw SealError(
                .tooLarge, "\(content.count) bytes exceed the sealing limit of \(SessionFrame.plaintextLimit - 1)")
        }
        guard sent <= lastCounter else { throw SealError(.exhausted, "the session has sealed all its frames") }
        let counter = sent
        let data = SessionBinding.associatedData(id, fromInitiator: isInitiator, counter: counter)
        let box: [UInt8]
        do throws(NoiseError) { box = try keys.seal(Padding.pad(content), nonce: counter, data: data) } catch {
            throw SealError(.exhausted, "the session has sealed all its frames")
        }
        sent = counter + 1
        return SessionFrame(id: id, counter: counter, box: box)
    }

    /// Throws `counter_out_of_range`, `replayed`, `forged`, `malformed`. Only an authentic frame changes anything.
    mutating func open(_ frame: SessionFrame, lastCounter: UInt64) throws(SealError) -> SessionPlaintext {
        guard frame.counter <= lastCounter else {
            throw SealError(.counterOutOfRange, "the counter is above that of a session's last frame")
        }
        guard window.accepts(frame.counter) else {
            throw SealError(.replayed, "a session's frame was replayed, or is too old")
        }
        let data = SessionBinding.associatedData(id, fromInitiator: !isInitiator, counter: frame.counter)
        guard let padded = keys.open(frame.box, nonce: frame.counter, data: data) else {
            throw SealError(.forged, "a session's frame was modified, redirected or reflected")
        }
        _ = window.record(frame.counter)
        received = max(received, frame.counter + 1)
        guard let content = Padding.unpad(padded) else {
            throw SealError(.malformed, "a session's frame has the wrong padding")
        }
        return try SessionPlaintext(decoding: content)
    }
}
