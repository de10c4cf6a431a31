/// The reason why an identity can't be loaded, created or used.
package struct IdentityError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error; more may be added.
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        /// No randomness, or no memory for a key.
        package static let unavailable = Code("unavailable")
        /// The key file, or its folder, cannot be read or written.
        package static let keyFileUnreadable = Code("key_file_unreadable")
        /// Somebody else can read the key file, or owns it.
        package static let keyFileExposed = Code("key_file_exposed")
        /// The key file is no key file.
        package static let keyFileDamaged = Code("key_file_damaged")
        /// A public key with which nothing can be sealed: of small order, or outside of the main subgroup.
        package static let weakKey = Code("weak_key")
    }

    package let code: Code
    /// For people, in English: what is wrong and what to do. Names the file, never what is in it.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
