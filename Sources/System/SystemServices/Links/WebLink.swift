import COnDemand

/// Links of other people that may be opened in the user's browser: `https://` and `http://`, and nothing that a shell or a
/// program could read in another way.
package enum WebLink {
    static let maximumBytes = 2_048

    /// The link; `nil` for anything else.
    package static func checked(_ text: String) -> String? {
        guard text.utf8.count <= maximumBytes, text.utf8.allSatisfy(isOfURL) else { return nil }
        let scheme = text.prefix { $0 != ":" }
        let rest = text.dropFirst(scheme.count)
        guard ["https", "http"].contains(scheme.lowercased()), rest.hasPrefix("://"), rest.utf8.count > 3 else {
            return nil
        }
        return text
    }

    /// Opens it with `xdg-open`, which runs on by itself. Blocks for the time that takes. Returns why it can't, for
    /// people.
    package static func open(_ text: String) -> String? {
        guard let link = checked(text) else { return "it is not a web address" }
        return bw_program_start("xdg-open", link) == 0 ? nil : "\"xdg-open\" cannot be started"
    }

    /// RFC 3986, section 2.
    private static func isOfURL(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~:/?#[]@!$&()*+,;=%".utf8.contains(byte)
        }
    }
}
