package import History
package import Hosting
import JSON
package import Peering
import Sharing
import Wire

/// A call of the C interface that a desktop executes.
package enum DesktopCall: Sendable {
    case start, stop, state

    case offer(CallTimeout)
    case scan(String)
    case code(CallTimeout)
    /// `nil` = all flows.
    case cancel(Desktop.Flow?)
    /// The user's answer about the device that a flow has reported; `nil` = in the only flow that asks.
    case confirm(Desktop.Flow?, accept: Bool)

    case devices, tokens
    /// Seals a push for a push service; gives the service's payload.
    case sealPush(Desktop.SealRequest)
    case rename(String, to: String)
    case unpair(String)
    case unpairAll
    case key(KeyCall)

    case permissions
    case allow(Permissions.Allowance, skill: String, to: String)
    case enableSkill(String, Bool)

    case notify(Desktop.Notice, CallTimeout)
    case history(Desktop.HistoryQuery)
    case invoke(Desktop.OwnCommand, CallTimeout)

    /// Errors: `invalid` for another allowance than those named in the message.
    package static func allow(
        checking allowance: String, skill: String, to device: String
    ) throws(HostError) -> DesktopCall {
        guard let allowance = Permissions.Allowance(name: allowance) else {
            throw HostError(
                .invalid, "allowance must be \"nothing\", \"safe\", \"mutating\" or \"privileged\"",
                detail: ["field": "allowance"])
        }
        return .allow(allowance, skill: skill, to: device)
    }
}

extension DesktopCall: SharableCall {
    /// The holder's own commands have no id: nobody repeats them, and each id costs a stored answer.
    package static let isAlwaysIdentified = false

    /// The desktop's own calls, without those about keys.
    enum Name: String, CaseIterable {
        case start, stop, state
        case offer, scan, code
        case cancel = "pairing.cancel"
        case confirm
        case devices, tokens
        case sealPush = "push.seal"
        case rename, unpair
        case unpairAll = "clear"
        case permissions, allow
        case enableSkill = "skill.enable"
        case notify, history, invoke
    }

    package init?(decoding name: String, _ arguments: inout CallArguments) throws(HostError) {
        if let call = try KeyCall(decoding: name, &arguments) {
            self = .key(call)
        } else if let name = Name(rawValue: name) {
            self = try Self.decoded(name, &arguments)
        } else {
            return nil
        }
    }

    private static func decoded(_ name: Name, _ arguments: inout CallArguments) throws(HostError) -> DesktopCall {
        switch name {
        case .start: .start
        case .stop: .stop
        case .state: .state
        case .offer: .offer(try arguments.timeout())
        case .scan: .scan(try arguments.text())
        case .code: .code(try arguments.timeout())
        case .cancel: .cancel(try .named(try arguments.optionalText(), "flow"))
        case .confirm: .confirm(try .named(try arguments.optionalText(), "flow"), accept: try arguments.flag())
        case .devices: .devices
        case .tokens: .tokens
        case .sealPush:
            .sealPush(
                try Desktop.SealRequest(
                    device: try arguments.text(), id: try arguments.text(), try arguments.object("options_json")))
        case .rename: .rename(try arguments.text(), to: try arguments.text())
        case .unpair: .unpair(try arguments.text())
        case .unpairAll: .unpairAll
        case .permissions: .permissions
        case .allow:
            try .allow(checking: try arguments.text(), skill: try arguments.text(), to: try arguments.text())
        case .enableSkill: .enableSkill(try arguments.text(), try arguments.flag())
        case .notify: .notify(try Desktop.Notice(try arguments.object("params_json")), try arguments.timeout())
        case .history: .history(try Desktop.HistoryQuery(try arguments.object("params_json")))
        case .invoke:
            .invoke(
                try Desktop.OwnCommand(try arguments.text(), try arguments.object("params_json")),
                try arguments.timeout())
        }
    }

    package var encoded: HostCall {
        switch self {
        case .start: HostCall(Name.start)
        case .stop: HostCall(Name.stop)
        case .state: HostCall(Name.state)
        case .offer(let timeout): HostCall(Name.offer, .timeout(timeout))
        case .scan(let code): HostCall(Name.scan, .string(code))
        case .code(let timeout): HostCall(Name.code, .timeout(timeout))
        case .cancel(let flow): HostCall(Name.cancel, .text(flow?.rawValue))
        case .confirm(let flow, let accept): HostCall(Name.confirm, .text(flow?.rawValue), .bool(accept))
        case .devices: HostCall(Name.devices)
        case .tokens: HostCall(Name.tokens)
        case .sealPush(let request):
            HostCall(
                Name.sealPush, .string(request.device.text), .string(request.push.text), .object(request.given))
        case .rename(let device, let name): HostCall(Name.rename, .string(device), .string(name))
        case .unpair(let device): HostCall(Name.unpair, .string(device))
        case .unpairAll: HostCall(Name.unpairAll)
        case .key(let call): call.encoded
        case .permissions: HostCall(Name.permissions)
        case .allow(let allowance, let skill, let device):
            HostCall(Name.allow, .string(allowance.name), .string(skill), .string(device))
        case .enableSkill(let skill, let isEnabled): HostCall(Name.enableSkill, .string(skill), .bool(isEnabled))
        case .notify(let notice, let timeout): HostCall(Name.notify, .object(notice.given), .timeout(timeout))
        case .history(let query): HostCall(Name.history, .object(query.given))
        case .invoke(let command, let timeout):
            HostCall(Name.invoke, .string(command.name), .object(command.given), .timeout(timeout))
        }
    }

    package var traits: CallTraits {
        switch self {
        case .start: CallTraits(.start)
        case .stop: CallTraits(.stop)
        case .state: CallTraits(.state)
        case .offer(let timeout), .code(let timeout): CallTraits(.startAndChange, timeout)
        case .scan: CallTraits(.startAndChange)
        case .devices, .tokens, .permissions, .history: CallTraits(.read)
        case .cancel, .confirm, .sealPush, .rename, .unpair, .unpairAll, .allow, .enableSkill: CallTraits(.change)
        case .notify(_, let timeout), .invoke(_, let timeout): CallTraits(.command, timeout)
        case .key(let call): call.traits
        }
    }

    package var readsStored: Bool {
        switch self {
        case .invoke(let command, _): command.isReading
        case _: traits.kind == .read || traits.kind == .state
        }
    }
}
