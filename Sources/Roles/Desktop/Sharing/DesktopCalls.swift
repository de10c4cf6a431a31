import Hosting
import JSON
import Peering
import Transport
import Wire

/// Passes each call to the unit that executes it.
@EventLoop
struct DesktopCalls {
    private let board: DesktopSwitchboard
    private let keys: KeyStore

    init(_ board: DesktopSwitchboard, _ keys: KeyStore) { (self.board, self.keys) = (board, keys) }

    func execute(_ call: DesktopCall, as identity: CommandIdentity, _ then: @escaping Then) {
        if call.traits.startsRole {
            do throws(HostError) { try board.start() } catch { return then(.failure(error)) }
        }
        switch call {
        case .start: then(.success(.done))
        case .stop:
            board.stop()
            then(.success(.done))
        case .state: board.describe(then)
        case .offer(let timeout): board.pairing.offer(timeout: timeout, then)
        case .scan(let code): board.pairing.scan(code, then)
        case .code(let timeout): board.pairing.code(timeout: timeout, then)
        case .cancel(let flow):
            board.pairing.cancel(flow?.pairing)
            then(.success(.done))
        case .confirm(let flow, let accept): board.pairing.confirm(flow?.pairing, accept: accept, then)
        case .devices: then(.success(HostReply(board.devices.json)))
        case .tokens: board.store.tokens(then: then)
        case .sealPush(let request): board.services.seal(request, then)
        case .rename(let device, let name): board.rename(PeerID(device), to: name, then)
        case .unpair(let device): board.unpairing.unpair(PeerID(device), then: then)
        case .unpairAll: board.unpairing.unpairAll(then: then)
        case .key(let call):
            KeyCalls(keys, board.channel.moves, board.store.database, board.revocation).execute(call, then)
        case .permissions: board.store.permissions(of: board.devices.all, then: then)
        case .allow(let allowance, let skill, let device):
            board.records.allow(allowance, skill, to: PeerID(device), then: then)
        case .enableSkill(let skill, let isEnabled): board.store.enable(skill, isEnabled, then: then)
        case .notify(let notice, let timeout):
            let id = identity.id.map { RequestID($0) }
            board.execute { $0.notify(notice, id: id, timeout: timeout, then) }
        case .history(let query): board.execute { $0.history(query, then) }
        case .invoke(let command, let timeout):
            switch command.kind {
            case .own(let request):
                if board.life.isClosed { then(.failure(.closed)) } else { board.answer(request, then) }
            case .method(let method, let params):
                let id = identity.id.map { RequestID($0) }
                board.execute { $0.invoke(method, params, id: id, timeout: timeout, then) }
            }
        }
    }
}
