import Hosting
import Identity
import JSON
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// Publishes prekeys to the desktops that use sessions, and opens what is sealed to them (WirePrekeys, "Overview").
///
/// Nothing is published before the program has a token of a push service, in this run or an earlier one.
@EventLoop
final class DevicePrekeys {
    /// Sends a payload to a desktop that has a session.
    typealias Say = @EventLoop (JSONValue, PeerID) -> Void

    /// What a sealed push turned out to be.
    indirect enum Opening {
        /// From this desktop. The prekey is used up with it.
        case opened(NotificationEvent, from: PeerID, PrekeyUse, isLate: Bool)
        /// It came before.
        case replayed(NotificationID)
        case refused(SealError)
        case failed(StoreError)
    }

    private let context: DeviceContext
    private let book: DesktopBook
    private let channel: PeerChannel
    private let say: Say
    private var isWanted: Bool
    /// Sealed pushes that were not opened.
    private(set) var refused: Int64 = 0

    /// - Parameter isWanted: a push service may have a token of the program's.
    init(
        isWanted: Bool, _ context: DeviceContext, _ book: DesktopBook, _ channel: PeerChannel, say: @escaping Say
    ) {
        (self.isWanted, self.context, self.book) = (isWanted, context, book)
        (self.channel, self.say) = (channel, say)
    }

    // MARK: Publication

    /// The program has given a token of a push service: desktops get prekeys from now on.
    func tokenGiven() {
        guard !isWanted else { return }
        isWanted = true
        for desktop in book.peers.ids where hasSession(desktop) { sessionBegan(desktop) }
    }

    /// No push service has a token any more: nothing is published, and what was published opens no more.
    func tokensTakenBack() {
        isWanted = false
        for desktop in book.peers.ids { book.peers[desktop]?.prekeys.begin() }
        // Behind those that are being made.
        context.store { (connection) throws(StoreError) in
            try PrekeyTable(connection).removeUnused()
        } then: { [context] result in
            // Opening the device again does it too.
            guard case .failure(let error) = result, error.code != .closed else { return }
            context.channel.problem("store_failed", "could not remove unused prekeys: \(error.message)")
        }
    }

    func sessionBegan(_ desktop: PeerID) {
        guard isWanted else { return }
        change(desktop) { $0.sessionBegan(now: EventLoop.now) }
    }

    func ranLow(_ shortage: PrekeyShortage, at desktop: PeerID) {
        guard isWanted else { return }
        change(desktop) { $0.ranLow(left: shortage.left, now: EventLoop.now) }
    }

    /// It was paired, maybe anew.
    func paired(_ desktop: PeerID) { book.peers[desktop]?.prekeys.begin() }

    private func hasSession(_ desktop: PeerID) -> Bool { channel.sessions?.hasSession(with: desktop) == true }

    private func change(_ desktop: PeerID, _ event: (inout PrekeyPublication) -> [PrekeyPublication.Action]) {
        guard var prekeys = book.peers[desktop]?.prekeys else { return }
        let actions = event(&prekeys)
        book.peers[desktop]?.prekeys = prekeys
        for action in actions {
            switch action {
            case .make(let count, let lastResort): make(count, lastResort: lastResort, for: desktop)
            // If the session has ended meanwhile, the next one says it.
            case .state(let statement): if hasSession(desktop) { say(statement.json, desktop) }
            }
        }
    }

    private func make(_ count: Int, lastResort isAlso: Bool, for desktop: PeerID) {
        guard let round = book.peers[desktop]?.prekeys.round else { return }
        let keys = (0..<max(0, count)).map { _ in AgreementKey.generate() }
        let lastResort = isAlso ? AgreementKey.generate() : nil
        let now = EpochMilliseconds.now
        context.store { (connection) throws(StoreError) in
            try PrekeyTable(connection).add(keys, lastResort: lastResort, for: desktop, now: now)
        } then: { [weak self] result in
            // Those of an earlier pairing are not offered.
            guard let self, book.peers[desktop]?.prekeys.round == round else { return }
            switch result {
            case .success:
                change(desktop) {
                    $0.made(keys.map(\.publicKey), lastResort: lastResort?.publicKey, now: EventLoop.now)
                }
            case .failure: book.peers[desktop]?.prekeys.failed()
            }
        }
    }

    // MARK: Opening

    /// What is opened is to be stored together with its use.
    func open(_ text: String, then: @escaping @Sendable @EventLoop (Opening) -> Void) {
        let push: SealedPush
        do throws(SealError) { push = try SealedPush(text) } catch { return refuse(error, then) }
        context.store { (connection) throws(StoreError) in
            try PrekeyTable(connection).find(push.prekey, now: .now)
        } then: { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let error): then(.failed(error))
            case .success(let found):
                do throws(SealError) { then(try open(push, with: found)) } catch { refuse(error, then) }
            }
        }
    }

    private func open(_ push: SealedPush, with found: PrekeyTable.Found?) throws(SealError) -> Opening {
        guard let found, book.isSecure(found.desktop) else { throw .unknownPrekey }
        guard let key = found.key else {
            // Recorded with the push that used it.
            guard let before = found.opened.first else { throw .unknownPrekey }
            return .replayed(before)
        }
        let pair = SealedPush.Pair(
            desktop: found.desktop, device: context.did,
            presharedKey: channel.presharedKey(of: found.desktop))
        let opened = try push.open(with: key, pair)
        guard case .event(let event) = Payload(decoding: .object(opened.body)), event.pushSeq != nil else {
            throw SealError(.malformed, "the sealed payload is not a push with a number")
        }
        if found.opened.contains(event.id) { return .replayed(event.id) }
        guard !found.isLastResort || found.opened.count < PrekeyLimits.openedByLastResort else {
            throw SealError(.exhausted, "the last-resort prekey has reached its limit of pushes")
        }
        book.peers[found.desktop]?.prekeys.used(push.prekey)
        let use = PrekeyUse(prekey: push.prekey, push: event.id, isLastResort: found.isLastResort)
        let isLate = Self.isLate(madeAt: event.timestamp, sealedAt: opened.timestamp, now: .now)
        return .opened(event, from: found.desktop, use, isLate: isLate)
    }

    /// Whether it waited, in an outbox or at the push service. The first two times are by the desktop's clock.
    nonisolated static func isLate(
        madeAt: EpochMilliseconds?, sealedAt: EpochMilliseconds?, now: EpochMilliseconds
    ) -> Bool {
        guard let moment = [madeAt, sealedAt].compactMap(\.self).min() else { return false }
        return moment < now &- PrekeyLimits.liveTime
    }

    /// A push was opened that is not stored: it came in a session before, or it has expired.
    func record(_ use: PrekeyUse) {
        context.store { (connection) throws(StoreError) in
            try PrekeyTable(connection).record(use)
        } then: { _ in
        }
    }

    private func refuse(_ error: SealError, _ then: @EventLoop (Opening) -> Void) {
        refused &+= 1
        context.channel.log(.warning, "could not decrypt a push from a push service: \(error.message)")
        then(.refused(error))
    }
}

extension SealError {
    fileprivate static var unknownPrekey: Self {
        SealError(
            .init("unknown_prekey"), "it is sealed to a prekey that this device does not have")
    }
}
