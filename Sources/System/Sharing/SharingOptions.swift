package import Hosting

/// The options of a handle that say how it shares its role.
package struct SharingOptions: Sendable {
    /// Other programs may have the same state directory open.
    package let isShared: Bool
    /// Whether a program with other options may have the role for the asking.
    package let yields: Bool

    /// Takes its keys from `reader`.
    package init(_ reader: inout OptionsReader) throws(HostError) {
        isShared = try reader.flag("shared") ?? true
        yields = try reader.flag("yields") ?? false
        guard isShared || !yields else {
            throw reader.invalid("yields", "has no meaning with \"shared\":false; omit it")
        }
    }
}
