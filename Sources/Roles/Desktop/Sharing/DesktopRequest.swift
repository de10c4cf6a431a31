import History
package import Hosting
import JSON
import Peering
package import Sharing
package import Store

/// A call with checked parameters, ready to be carried out.
struct DesktopRequest: Sendable {
    private typealias Run = @Sendable (Desktop, @escaping Then) -> Void

    private let run: Run

    /// Errors: `invalid` for a parameter; `unsupported` for a call that this version does not know.
    init(_ call: HostCall) throws(HostError) {
        guard let name = DesktopCall(rawValue: call.name) else {
            throw HostError(.unsupported, "unknown call \(call.name)")
        }
        var arguments = CallArguments(call)
        run = try Self.parsed(name, &arguments)
    }

    func start(_ desktop: Desktop, _ then: @escaping ReplyThen) {
        run(desktop) { result in then(result.map { HostReply($0) }) }
    }

    private static func parsed(_ call: DesktopCall, _ arguments: inout CallArguments) throws(HostError) -> Run {
        switch call {
        case .start: return { $0.start(then: $1) }
        case .stop: return act { $0.stop() }
        case .state: return { $0.state(then: $1) }
        case .offer, .scan, .code, .cancel, .confirm: return try pairing(call, &arguments)
        case .devices, .tokens, .rename, .unpair, .unpairAll, .permissions, .allow, .enableSkill:
            return try devices(call, &arguments)
        case .revoke, .readmit, .revoked, .rekey, .cancelRekey, .rekeyState, .confirmRekey:
            return try keys(call, &arguments)
        case .sealPush, .notify, .history, .invoke: return try pushes(call, &arguments)
        }
    }

    /// For calls without a result.
    private static func act(_ start: @escaping @Sendable (Desktop) -> Void) -> Run {
        { desktop, then in
            start(desktop)
            then(.success("null"))
        }
    }

    private static func pairing(_ call: DesktopCall, _ arguments: inout CallArguments) throws(HostError) -> Run {
        switch call {
        case .offer:
            let timeout = try arguments.integer()
            return { $0.offer(timeout: timeout, then: $1) }
        case .scan:
            let text = try arguments.text()
            return { $0.scan(text, then: $1) }
        case .code:
            let timeout = try arguments.integer()
            return { $0.code(timeout: timeout, then: $1) }
        case .cancel:
            let flow = try Desktop.Flow.named(try arguments.optionalText())
            return act { $0.cancel(flow) }
        case _:
            let flow = try Desktop.Flow.named(try arguments.optionalText())
            let accept = try arguments.flag()
            return { $0.confirm(flow, accept, then: $1) }
        }
    }

    private static func devices(_ call: DesktopCall, _ arguments: inout CallArguments) throws(HostError) -> Run {
        switch call {
        case .devices: return { $0.devices(then: $1) }
        case .tokens: return { $0.tokens(then: $1) }
        case .rename:
            let (device, name) = (try arguments.text(), try arguments.text())
            return { $0.rename(device, to: name, then: $1) }
        case .unpair:
            let device = try arguments.text()
            return { $0.unpair(device, then: $1) }
        case .unpairAll: return { $0.clear(then: $1) }
        case .permissions: return { $0.permissions(then: $1) }
        case .allow:
            let (device, skill) = (try arguments.text(), try arguments.text())
            guard let allowance = Permissions.Allowance(name: try arguments.text()) else {
                throw HostError(
                    .invalid, "allowance must be \"nothing\", \"safe\", \"mutating\" or \"privileged\"",
                    detail: ["field": "allowance"])
            }
            return { $0.allow(allowance, skill, to: device, then: $1) }
        case _:
            let (skill, isEnabled) = (try arguments.text(), try arguments.flag())
            return { $0.enable(skill, isEnabled, then: $1) }
        }
    }

    private static func keys(_ call: DesktopCall, _ arguments: inout CallArguments) throws(HostError) -> Run {
        switch call {
        case .revoke:
            let device = try arguments.text()
            return { $0.revoke(device, then: $1) }
        case .readmit:
            let device = try arguments.text()
            return { $0.readmit(device, then: $1) }
        case .revoked: return { $0.revoked(then: $1) }
        case .rekey: return { $0.rekey(then: $1) }
        case .cancelRekey: return { $0.cancelRekeyAndKey(then: $1) }
        case .confirmRekey:
            let (device, key, accept) = (try arguments.text(), try arguments.text(), try arguments.flag())
            return { $0.confirmRekey(device, to: key, accept, then: $1) }
        case _: return { $0.rekeyState(then: $1) }
        }
    }

    private static func pushes(_ call: DesktopCall, _ arguments: inout CallArguments) throws(HostError) -> Run {
        switch call {
        case .sealPush:
            let request = try Desktop.SealRequest(
                device: try arguments.text(), id: try arguments.text(), options: try arguments.optionalText())
            return { $0.seal(request, then: $1) }
        case .notify:
            let notice = try Desktop.Notice(parsing: try arguments.optionalText())
            let (timeout, id) = (try arguments.integer(), try OwnCommandIdentity.read(&arguments))
            return { $0.notify(notice, id: id, timeout: timeout, then: $1) }
        case .history:
            let query = try Desktop.HistoryQuery(parsing: try arguments.optionalText())
            return { $0.history(query, then: $1) }
        case _:
            let (method, params) = (try arguments.text(), try arguments.optionalText())
            let (timeout, id) = (try arguments.integer(), try OwnCommandIdentity.read(&arguments))
            if let request = try Desktop.OwnRequest(method, params: params) { return { $0.answer(request, then: $1) } }
            let command = try Desktop.OwnCommand(method, params: params)
            return { $0.invoke(command, id: id, timeout: timeout, then: $1) }
        }
    }
}

extension Desktop: SharableRole {
    package var database: Database { core.store.database }

    package func prepare(_ call: HostCall) throws(HostError) -> SharableRole.Start {
        let request = try DesktopRequest(call)
        return { [self] in request.start(self, $0) }
    }

    /// A desktop asks its program nothing.
    package func hostAnswers(_ hook: HostHook, _ answers: Bool) {}

    package static func blocks(_ call: HostCall) -> Bool { call.name == DesktopCall.rekey.rawValue }

    package static func starts(_ call: HostCall) -> Bool { DesktopCall(rawValue: call.name)?.startsDesktop ?? false }

    package static func identified(_ call: HostCall, stays: Bool) -> HostCall {
        stays ? call : OwnCommandIdentity.given(to: call)
    }

    package static func repeated(_ call: HostCall) -> HostCall? {
        DesktopCall(rawValue: call.name)?.reads == true || OwnCommandIdentity.isIn(call) ? call : nil
    }

    /// A desktop stores what it is to push; it needs no connection first.
    package static func delayed(_ call: HostCall) -> HostCall { call }

    package static func timeout(of call: HostCall) -> UInt64? {
        guard let place = DesktopCall(rawValue: call.name)?.timeoutPlace, call.arguments.indices.contains(place)
        else { return nil }
        return call.arguments[place].integer.map { min(UInt64(clamping: $0), longestTimeout) }
    }

    /// In milliseconds: a day.
    private static let longestTimeout: UInt64 = 86_400_000

    package static func check(_ call: HostCall) throws(HostError) { _ = try DesktopRequest(call) }
}
