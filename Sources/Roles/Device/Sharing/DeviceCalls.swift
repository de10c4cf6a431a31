import DeviceAlerts
import Hosting
import JSON
import OfflineQueue
import Peering
import Signalling
import Transport
import Wire

/// Passes each call to the unit that executes it.
@EventLoop
struct DeviceCalls {
    private let board: DeviceSwitchboard
    private let keys: KeyStore

    init(_ board: DeviceSwitchboard, _ keys: KeyStore) { (self.board, self.keys) = (board, keys) }

    func execute(_ call: DeviceCall, as identity: CommandIdentity, _ then: @escaping Then) {
        if call.traits.startsRole { board.start() }
        switch call {
        case .start: then(.success(.done))
        case .stop:
            board.stop()
            then(.success(.done))
        case .suspend:
            board.suspend()
            then(.success(.done))
        case .resume:
            board.resume()
            then(.success(.done))
        case .state: board.describe(then)
        case .scan(let code, let timeout, let relay): board.pairing.scan(code, timeout: timeout, relay: relay, then)
        case .show(let timeout, let relay): board.pairing.show(timeout: timeout, relay: relay, then)
        case .type(let code, let timeout, let relay): board.pairing.type(code, timeout: timeout, relay: relay, then)
        case .cancel(let flow):
            board.pairing.cancel(flow)
            then(.success(.done))
        case .confirm(let flow, let accept): board.pairing.flows.answer(flow?.flow, accept: accept, then)
        case .desktops: then(.success(HostReply(board.desktops.list(board.routes))))
        case .rename(let desktop, let name): board.desktops.rename(desktop, to: name, then)
        case .unpair(let desktop): board.desktops.unpair(desktop, then)
        case .unpairAll: board.desktops.unpairAll(then)
        case .key(let call):
            KeyCalls(keys, board.channel.moves, board.context.database, board.revocation).execute(call, then)
        case .ask(.notification(let command), let desktop, let timeout),
            .ask(.invoke(let command), let desktop, let timeout):
            ask(command, as: identity, of: desktop, timeout, then)
        case .ask(.refresh, let desktop, let timeout): board.inbox.refresh(desktop, timeout: timeout, then)
        case .ask(.change(let request), let desktop, let timeout):
            board.inbox.change(request, desktop: desktop, timeout: timeout.milliseconds, then)
        case .loadInbox(let query): InboxQueries(board.context, board.desktops, board.inbox).load(query, then)
        case .inboxState: InboxQueries(board.context, board.desktops, board.inbox).describe(then)
        case .inboxSettings(let desktop): board.inbox.updates.describeSettings(of: desktop, then)
        case .queue: board.commands.queue.list(then)
        case .removeQueued(let id): board.commands.queue.carryOut(.remove(RequestID(id)), then)
        case .retryQueued(let id): board.commands.queue.carryOut(.retry(id.map { RequestID($0) }, now: .now), then)
        case .clearQueue(let moment): board.commands.queue.carryOut(.clear(before: moment == 0 ? nil : moment), then)
        case .give(let service, let token): board.pushServices.give(token, for: service, then)
        case .takeBackToken(let service): board.pushServices.takeBack(service, then)
        case .receive(let service, let payload): board.pushServices.receive(payload, service: service, then)
        case .complete(let id, let result): board.pushServices.complete(id, result, then)
        case .alerts(let request): board.alerts.all.execute(request, then)
        }
    }

    private func ask(
        _ command: Device.Command, as identity: CommandIdentity, of desktop: String?, _ timeout: CallTimeout,
        _ then: @escaping Then
    ) {
        // An earlier holder has put it into the queue.
        if let id = identity.id.map({ RequestID($0) }), identity.attempt == .repeated,
            board.commands.queue.commands.contains(where: { $0.id == id })
        {
            return then(CommandOutcome.queued(id).reply)
        }
        board.commands.invoke(command, identity, desktop: desktop, timeout: timeout) { then($0.reply) }
    }
}
