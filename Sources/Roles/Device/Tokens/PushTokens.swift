import Hosting
import JSON
import Pairing
import Store
import Transport
import Wire

/// Push tokens: each sealed desktop gets them once per start, and when they change (WireSealing, "Push tokens").
@EventLoop
final class PushTokens {
    private var machine: PushTokensStateMachine
    private let context: DeviceContext
    private let desktops: @EventLoop () -> [PeerID]
    private let say: @EventLoop (JSONValue, PeerID) -> [RouteID]
    /// There while a removal waits to count as heard.
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - desktops: those that are paired.
    ///   - say: sends a statement over every route of a sealed desktop that is not absent, since it is not known which of
    ///     them it hears; gives the routes that have taken it.
    init(
        removals: [PushTokensStateMachine.Removal], _ context: DeviceContext,
        desktops: @escaping @EventLoop () -> [PeerID], say: @escaping @EventLoop (JSONValue, PeerID) -> [RouteID]
    ) {
        machine = PushTokensStateMachine(removals: removals)
        self.context = context
        self.desktops = desktops
        self.say = say
    }

    // MARK: The host

    func give(_ token: PushToken, for service: PushService, _ then: @escaping Then) {
        context.store { (connection) throws(StoreError) in
            try PushTokenTable(connection).give(service)
        } then: { [weak self] result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success(false):
                let limit = PushTokensStateMachine.serviceLimit
                then(
                    .failure(
                        HostError(.limit, "\(limit) services already have tokens; clear one first")))
            case .success(true):
                self?.machine.gave(token, for: service)
                self?.tellAll()
                then(.success(.done))
            }
        }
    }

    /// - Parameters:
    ///   - service: `nil` = of all services.
    ///   - ended: no service has a token any more.
    func takeBack(
        _ service: PushService?, ended: @escaping @Sendable @EventLoop () -> Void, _ then: @escaping Then
    ) {
        context.store { (connection) throws(StoreError) in
            let table = PushTokenTable(connection)
            return (try table.takeBack(service), try table.isInUse())
        } then: { [weak self] result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success(((let services, let removals), let isInUse)):
                if !isInUse { ended() }
                self?.machine.tookBack(removals, of: services)
                self?.tellAll()
                then(.success(.done))
            }
        }
    }

    // MARK: Desktops

    /// The device starts: every desktop hears everything once more.
    func start() { machine.started() }

    func stop() { timer?.stop() }

    /// It was paired, maybe anew.
    func paired(_ desktop: PeerID) {
        machine.paired(desktop)
        tell(desktop)
    }

    func forget(_ desktop: PeerID) { machine.forget(desktop) }

    /// A connection has ended.
    func disconnected(_ route: RouteID) { machine.disconnected(route, now: EventLoop.now) }

    /// A relay has nobody of that id.
    func wasCalledAbsent(_ desktop: PeerID, over route: RouteID) { machine.wasCalledAbsent(desktop, over: route) }

    /// A relay says that the desktop has come.
    ///
    /// - Parameter lastFrameAt: when something came from it last, in the loop's milliseconds.
    func cameBack(_ desktop: PeerID, lastFrameAt: UInt64?) {
        machine.cameAnew(desktop, heardAt: lastFrameAt ?? 0, now: EventLoop.now)
        tell(desktop)
    }

    private func tellAll() { for desktop in desktops() { tell(desktop) } }

    /// Tells a desktop what it has not heard.
    func tell(_ desktop: PeerID) {
        let due = machine.due(for: desktop)
        guard !due.isEmpty else { return }
        for statement in due {
            let routes = say(statement.json(deviceID: context.deviceID), desktop)
            machine.wrote(statement, to: desktop, over: routes, now: EventLoop.now)
        }
        arm()
    }

    // MARK: Time

    private func arm() {
        guard let deadline = machine.nextDeadline else { return }
        let timer = timer ?? LoopTimer { [weak self] in self?.settle() }
        self.timer = timer
        timer.start(at: deadline)
    }

    private func settle() {
        timer = nil
        for removal in machine.settle(now: EventLoop.now) {
            context.store { (connection) throws(StoreError) in
                try PushTokenTable(connection).forget(removal)
            } then: { [weak self] result in
                // A removal that the store has not forgotten is sent again in the next run.
                if case .success = result { self?.machine.forgot(removal) }
            }
        }
        arm()
    }
}
