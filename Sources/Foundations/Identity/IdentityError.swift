@_exported public import Errors

/// The reason why an identity can't be loaded, created or used.
package typealias IdentityError = CodedError<IdentityErrorDomain>

package enum IdentityErrorDomain: ErrorDomain {}

extension IdentityError.Code {
    /// No randomness, or no memory for a key.
    package static var unavailable: Self { Self("unavailable") }
    /// The key file, or its folder, cannot be read or written.
    package static var keyFileUnreadable: Self { Self("key_file_unreadable") }
    /// The key file belongs to another user, or others can read it.
    package static var keyFileExposed: Self { Self("key_file_exposed") }
    /// The file isn't a key file.
    package static var keyFileDamaged: Self { Self("key_file_damaged") }
    /// A public key that can't be used for sealing: of small order, or outside the main subgroup.
    package static var weakKey: Self { Self("weak_key") }
}
