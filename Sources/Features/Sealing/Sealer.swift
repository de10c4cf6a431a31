package import Identity
package import JSON
package import Wire

/// Seals to peers and opens their seals, for one start of a role (WireSealing, "The seal").
///
/// Belongs to the role's loop. It forgets nothing about the peers that it was told to keep; of others, which are only
/// being paired, it remembers the last 64.
package final class Sealer {
    package struct Limits: Sendable {
        /// How many peers' shared keys are held.
        package var boxes = 256
        /// How many peers are remembered that are not kept.
        package var guests = 64

        package init() {}
    }

    /// What was in a seal.
    package struct Opened: Sendable, Equatable {
        /// A complete payload (WireSealing, "The seal").
        package let body: JSONObject
        /// When it was sealed: informs, decides nothing.
        package let timestamp: EpochMilliseconds?
        /// To be saved with whatever the body brings about.
        package let mark: SealMark
    }

    private struct Peer {
        var window = ReplayWindow()
        var nextSeq: Int64
        var isKept: Bool
        /// When it was heard of last, in the order of all.
        var use: UInt64
    }

    /// Our own id.
    package let id: PeerID
    package let epoch: Int64
    package private(set) var refused = RefusedFrames()

    private let key: SigningKey
    private let limits: Limits
    private var boxes: BoxCache
    private var peers: [PeerID: Peer] = [:]
    private var uses: UInt64 = 0
    /// Where the seqs of a peer begin that was not known, or is no longer: no pair of epoch and seq is used twice.
    private var firstSeq: Int64 = 1

    /// - Parameters:
    ///   - epoch: what ``SealStates/begin(now:)`` gave, committed.
    ///   - windows: what ``SealStates/windows()`` gave. These peers are kept.
    package init(key: SigningKey, epoch: Int64, windows: [PeerID: ReplayWindow] = [:], limits: Limits = Limits()) {
        self.key = key
        self.id = PeerID(key.did)
        self.epoch = epoch
        self.limits = limits
        boxes = BoxCache(limit: limits.boxes)
        for (peer, window) in windows { peers[peer] = Peer(window: window, nextSeq: 1, isKept: true, use: 0) }
    }

    /// How many peers are remembered, and how many shared keys are held.
    package var held: (peers: Int, boxes: Int) { (peers.count, boxes.count) }

    /// A peer that is paired now: nothing of it is forgotten, and nothing counts that it has sealed before the frame that
    /// has paired it.
    package func keep(_ peer: PeerID, since mark: SealMark? = nil) {
        touch(peer) { entry in
            entry.isKept = true
            if let mark { entry.window.begin(at: mark) }
        }
    }

    /// A peer that is no longer spoken with. Its window is kept, as its row is (``SealStates/forget(_:)``).
    package func dropBox(of peer: PeerID) { boxes.remove(peer) }

    /// Seals a payload, anew each time: also what is sent again.
    ///
    /// Gives the whole payload for a `message` with `"sealed":true`. Throws `no_key`, `too_large`, `exhausted`.
    package func seal(_ body: JSONObject, to peer: PeerID, now: EpochMilliseconds) throws(SealError) -> JSONObject {
        guard let box = box(of: peer) else {
            throw SealError(.noKey, "cannot seal for a peer whose id is not a key")
        }
        let seq = touch(peer) { $0.nextSeq }
        guard seq < Int64.max else { throw SealError(.exhausted, "too many messages were sealed since the start") }
        let plaintext = SealedPlaintext(
            from: id, to: peer, epoch: epoch, seq: seq, timestamp: now, body: body
        ).bytes
        guard plaintext.count <= SealedEnvelope.plaintextLimit else {
            throw SealError(
                .tooLarge, "\(plaintext.count) bytes exceed the sealing limit of \(SealedEnvelope.plaintextLimit)")
        }
        boxes.insert(box, of: peer)
        touch(peer) { $0.nextSeq = seq + 1 }
        let nonce = Identity.randomBytes(Box.nonceByteCount)
        return SealedEnvelope(nonce: nonce, box: box.seal(plaintext, nonce: nonce)).json
    }

    /// Opens what came, once.
    ///
    /// - Parameters:
    ///   - payload: the sealed payload, whole or its inner part.
    ///   - peer: the `from` that the relay wrote. Whether this peer may speak to us is the caller's to know.
    ///   - isProof: whether a body carries a proof that a pairing under way may accept. Such a frame opens even if the
    ///     replay window refuses it; its mark is ``SealMark/isStale`` then. Asked only about refused frames.
    ///
    /// Throws `forged`, `replayed`, `misaddressed` or `malformed`, and counts it in ``refused``.
    package func open(
        _ payload: JSONObject, from peer: PeerID, isProof: (JSONObject) -> Bool = { _ in false }
    ) throws(SealError) -> Opened {
        do throws(SealError) { return try opened(payload, from: peer, isProof) } catch {
            refused.count(error)
            throw error
        }
    }

    private func opened(
        _ payload: JSONObject, from peer: PeerID, _ isProof: (JSONObject) -> Bool
    ) throws(SealError) -> Opened {
        let envelope = try SealedEnvelope(decoding: payload)
        guard peer != id else { throw SealError(.misaddressed, "a sealed frame claims to be from this peer itself") }
        guard let box = box(of: peer), let bytes = box.open(envelope.box, nonce: envelope.nonce) else {
            throw SealError(.forged, "a sealed frame was modified, or is not from the peer that the relay names")
        }
        let plaintext = try SealedPlaintext(decoding: bytes)
        // The box is the same in both directions: without this our own frames would be the peer's.
        guard plaintext.from == peer, plaintext.to == id else {
            throw SealError(.misaddressed, "a sealed frame was redirected or reflected")
        }
        boxes.insert(box, of: peer)
        let isStale = !touch(peer) { $0.window.record(epoch: plaintext.epoch, seq: plaintext.seq) }
        guard !isStale || isProof(plaintext.body) else {
            throw SealError(.replayed, "a sealed frame was replayed, or is too old")
        }
        return Opened(
            body: plaintext.body, timestamp: plaintext.timestamp,
            mark: SealMark(peer: peer, epoch: plaintext.epoch, seq: plaintext.seq, isStale: isStale))
    }

    /// From the cache, else computed: it enters the cache only when the peer has proved to be one.
    func box(of peer: PeerID) -> Box? {
        if let box = boxes[peer] { return box }
        guard let publicKey = PublicKey(did: peer.text) else { return nil }
        return try? Box(key, with: publicKey)
    }

    @discardableResult
    private func touch<T>(_ peer: PeerID, _ change: (inout Peer) -> T) -> T {
        uses &+= 1
        // In place: a copy of an entry would be one of its window as well.
        guard let index = peers.index(forKey: peer) else {
            var entry = Peer(nextSeq: firstSeq, isKept: false, use: uses)
            let result = change(&entry)
            peers[peer] = entry
            if !entry.isKept { evictGuests() }
            return result
        }
        peers.values[index].use = uses
        let result = change(&peers.values[index])
        if !peers.values[index].isKept { evictGuests() }
        return result
    }

    private func evictGuests() {
        let guests = peers.filter { !$0.value.isKept }
        guard guests.count > max(1, limits.guests), let oldest = guests.min(by: { $0.value.use < $1.value.use }) else {
            return
        }
        firstSeq = max(firstSeq, oldest.value.nextSeq)
        peers[oldest.key] = nil
    }
}
