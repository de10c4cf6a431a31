package import Hosting
import JSON

/// What hosts ask about keys: refusing those of peers, and replacing their own (WireRekey, "Overview").
package enum KeyCall: CallCoding {
    case revoke(String)
    case readmit(String)
    case revoked
    case rekey
    case cancelRekey
    case rekeyState
    case confirmRekey(String, to: String, accept: Bool)

    enum Name: String, CaseIterable {
        case revoke, readmit, revoked, rekey
        case cancelRekey = "rekey.cancel"
        case rekeyState = "rekey.status"
        case confirmRekey = "rekey.confirm"
    }

    package init?(decoding name: String, _ arguments: inout CallArguments) throws(HostError) {
        guard let name = Name(rawValue: name) else { return nil }
        self =
            switch name {
            case .revoke: .revoke(try arguments.text())
            case .readmit: .readmit(try arguments.text())
            case .revoked: .revoked
            case .rekey: .rekey
            case .cancelRekey: .cancelRekey
            case .rekeyState: .rekeyState
            case .confirmRekey:
                .confirmRekey(try arguments.text(), to: try arguments.text(), accept: try arguments.flag())
            }
    }

    package var encoded: HostCall {
        switch self {
        case .revoke(let peer): HostCall(Name.revoke, .string(peer))
        case .readmit(let peer): HostCall(Name.readmit, .string(peer))
        case .revoked: HostCall(Name.revoked)
        case .rekey: HostCall(Name.rekey)
        case .cancelRekey: HostCall(Name.cancelRekey)
        case .rekeyState: HostCall(Name.rekeyState)
        case .confirmRekey(let peer, let key, let accept):
            HostCall(Name.confirmRekey, .string(peer), .string(key), .bool(accept))
        }
    }

    package var traits: CallTraits {
        switch self {
        case .revoked, .rekeyState: CallTraits(.read)
        case .revoke, .readmit, .rekey, .cancelRekey, .confirmRekey: CallTraits(.change)
        }
    }
}
