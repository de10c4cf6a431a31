import Delivery
import Hosting
import Identity
import JSON
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// The devices' push tokens and prekeys; and the pushes that are sealed to those, for programs that send them through a
/// service (WirePrekeys, "Overview").
@EventLoop
final class PushServices {
    /// A push to be sealed.
    private let store: DeviceStore
    private let devices: DeviceBook
    private let key: AgreementKey
    private let ownID: PeerID
    private let channel: PeerChannel
    private let host: HostReports
    private let runsShort: @EventLoop (PrekeyShortage, PeerID) -> Void

    /// - Parameter runsShort: few prekeys of this device are left: ask for more, in a session.
    init(
        _ context: DesktopContext, _ devices: DeviceBook, _ channel: PeerChannel, _ host: HostReports,
        runsShort: @escaping @EventLoop (PrekeyShortage, PeerID) -> Void
    ) {
        key = AgreementKey(context.key)
        ownID = context.identity.did
        (store, self.devices) = (context.store, devices)
        (self.channel, self.host, self.runsShort) = (channel, host, runsShort)
    }

    /// A device has given a push token, or taken one back.
    func stated(_ statement: PushTokenStatement, _ mark: SealMark) {
        store.apply(statement, mark) { [weak self] result in
            switch result {
            case .success(true): break
            case .success(false): self?.channel.countReplay()
            case .failure(let error): self?.host.storeFailed("dropped a device's push token", error)
            }
        }
    }

    /// A device has stated its prekeys, in a session. A newer statement of the same session counts.
    func stated(_ statement: PrekeyStatement, _ mark: SealMark) {
        store.database.perform { (connection) throws(StoreError) -> PrekeyStock? in
            // It may have been unpaired in the meantime.
            guard try PairedDevices(connection).find(mark.peer) != nil else { return nil }
            return try DevicePrekeyTable(connection).apply(statement, mark, now: .now)
        } then: { [weak self] result in
            switch result {
            case .success(let stock?): if stock.isLow { self?.runsShort(stock.shortage, mark.peer) }
            case .success(nil): break
            case .failure(let error): self?.host.storeFailed("dropped a device's prekeys", error)
            }
        }
    }

    func seal(_ request: Desktop.SealRequest, _ then: @escaping Then) {
        guard let device = devices[request.device] else { return then(.failure(.noSuchDevice)) }
        guard device.isSecure else {
            return then(
                .failure(
                    HostError(
                        .unsupported, "\(device.name) was paired without encryption; pushes cannot be encrypted for it",
                        detail: ["reason": "not_encrypted"])))
        }
        let pair = SealedPush.Pair(
            desktop: ownID, device: request.device, presharedKey: channel.presharedKey(of: request.device))
        let name = device.name
        store.database.perform { [key] (connection) throws(StoreError) in
            try Self.seal(request, for: name, by: key, pair, connection)
        } then: { [weak self] result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success(.failure(let error)): then(.failure(error))
            case .success(.success(let (payload, stock))):
                // Also with none: the statement may have been dropped, and nothing else asks again.
                if stock.isLow { self?.runsShort(stock.shortage, request.device) }
                then(payload.map { .success(HostReply($0.json)) } ?? .failure(.noPrekeys(of: name)))
            }
        }
    }

    /// A prekey is used only if the push fits. There is no payload if there is no prekey.
    private nonisolated static func seal(
        _ request: Desktop.SealRequest, for name: String, by key: AgreementKey, _ pair: SealedPush.Pair,
        _ connection: Connection
    ) throws(StoreError) -> Result<(ServicePayload?, PrekeyStock), HostError> {
        let now = EpochMilliseconds.now
        guard let entry = try Outbox(connection).entry(of: request.push, for: request.device, now: .current) else {
            return .failure(
                HostError(
                    .notFound, "no such push is waiting for \(name): the device has it, or it expired or was deleted",
                    detail: ["field": "id"]))
        }
        guard let body = entry.event.payload(as: .bellwire).object else {
            return .failure(HostError(.invalid, "the push is not an object"))
        }
        let size = SealedPush.size(of: body, timestamp: now)
        guard size <= SealedPush.contentLimit else { return .failure(.pushTooLarge(size)) }
        var stock = try DevicePrekeyTable(connection).stock(of: request.device, now: now)
        guard let prekey = stock.take() else { return .success((nil, stock)) }
        let sealed: SealedPush
        do throws(SealError) {
            sealed = try SealedPush.seal(
                body, timestamp: now, by: key, to: prekey.key, ephemeral: .generate(), pair)
        } catch {
            return .failure(
                HostError(
                    .unsupported, "cannot seal the push for \(name): \(error.message)",
                    detail: ["reason": .string(error.code.name)]))
        }
        try DevicePrekeyTable(connection).use(prekey, of: request.device, now: now)
        return .success((ServicePayload(form: request.form, sealed: sealed), stock))
    }
}

extension HostError {
    fileprivate static func noPrekeys(of name: String) -> HostError {
        HostError(
            .unsupported,
            "\(name) has published no prekeys. It does so when it has a push token and is connected. "
                + "Until then, send a payload without content, so that the device connects",
            detail: ["reason": "no_prekeys"])
    }

    fileprivate static func pushTooLarge(_ size: Int) -> HostError {
        let limit = SealedPush.contentLimit
        return HostError(
            .limit,
            "the push has \(size) bytes; the limit for a push service is \(limit). Shorten its body or its data, "
                + "or send a payload without content, so that the device connects and receives it",
            detail: ["size": .integer(Int64(size)), "limit": .integer(Int64(limit))])
    }
}
