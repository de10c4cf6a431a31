@_exported public import Errors

/// The reason why a notification method was not called, or has no result.
package typealias NotificationsError = CodedError<NotificationsErrorDomain>

package enum NotificationsErrorDomain: ErrorDomain {
    package typealias Facts = String
}

extension NotificationsError.Code {
    /// A missing, unknown, out-of-range or wrongly typed parameter.
    package static var invalidParams: Self { Self("invalid_params") }
    /// The desktop's answer doesn't match the method.
    package static var undecodable: Self { Self("undecodable") }
}

extension NotificationsError {
    package init(_ code: Code, _ message: String, field: String?) {
        self.init(code, message, facts: field)
    }

    /// The parameter or the member of the answer that is at fault.
    package var field: String? { facts }

    package static func parameter(_ field: String, _ message: String) -> NotificationsError {
        NotificationsError(.invalidParams, "\(field): \(message)", field: field)
    }

    static func answer(_ field: String?, _ message: String) -> NotificationsError {
        NotificationsError(.undecodable, "the desktop's answer: \(message)", field: field)
    }
}
