package import Hosting

/// The options of a handle that say how it shares its role.
package struct SharingOptions: Sendable {
    /// Other programs may have the same state directory open.
    package let isShared: Bool
    /// Whether a program with other options may have the role for the asking.
    package let yields: Bool
    /// What an interpreter runs, such as a script's path: the program's name if it has no other.
    package let program: String?

    /// Takes its keys from `reader`.
    package init(_ reader: inout OptionsReader) throws(HostError) {
        isShared = try reader.flag("shared") ?? true
        yields = try reader.flag("yields") ?? false
        program = try reader.text("program", maximumBytes: 4_096)
        guard program?.isEmpty != true else { throw reader.invalid("program", "is empty; omit it") }
        guard isShared || !yields else {
            throw reader.invalid("yields", "has no meaning with \"shared\":false; omit it")
        }
    }
}
