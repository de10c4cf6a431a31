package import Wire
@_exported public import Errors

/// The reason why a command has no result.
package typealias CommandError = CodedError<CommandErrorDomain>

package enum CommandErrorDomain: ErrorDomain {
    package typealias Facts = CommandErrorFacts
}

extension CommandError.Code {
    /// The desktop is offline.
    package static var offline: Self { Self("offline") }
    /// No answer in time. A deployed desktop may still execute the command.
    package static var timeout: Self { Self("timeout") }
    package static var cancelled: Self { Self("cancelled") }
    /// Our side was closed while the command waited.
    package static var closed: Self { Self("closed") }
    /// Too many commands waiting for answers.
    package static var tooMany: Self { Self("too_many") }
    /// Two commands with one id.
    package static var duplicateID: Self { Self("duplicate_id") }
    /// This device lacks the permission.
    package static var denied: Self { Self("denied") }
    /// The desktop does not know the command.
    package static var unsupported: Self { Self("unsupported") }
    /// The desktop refused; its code and text are kept.
    package static var remote: Self { Self("remote") }
    /// The answer cannot be read.
    package static var undecodable: Self { Self("undecodable") }
}

extension CommandError {
    package init(_ code: Code, _ message: String, remote: RemoteError?, lacksSkill: Bool = false) {
        self.init(code, message, facts: CommandErrorFacts(remote: remote, lacksSkill: lacksSkill))
    }

    package var remote: RemoteError? { facts?.remote }
    package var lacksSkill: Bool { facts?.lacksSkill == true }
}

package struct CommandErrorFacts: Sendable, Equatable {
    /// The peer's own words, when it was the peer that refused.
    let remote: RemoteError?
    /// The desktop has no notification commands over signalling (WireDeployedPeers, "The desktop app"). Remembered
    /// until the next connection.
    let lacksSkill: Bool
}
