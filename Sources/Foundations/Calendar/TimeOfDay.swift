/// `HH:mm`, in the local time of the settings' owner.
package enum TimeOfDay {
    package static func isValid(_ text: String) -> Bool { minute(of: text) != nil }

    /// Minutes since midnight; `nil` for a text that is no time of day.
    package static func minute(of text: String) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
        guard let hour = number(bytes[0], bytes[1]), let minute = number(bytes[3], bytes[4]) else { return nil }
        return hour < 24 && minute < 60 ? hour * 60 + minute : nil
    }

    private static func number(_ tens: UInt8, _ ones: UInt8) -> Int? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard digits ~= tens, digits ~= ones else { return nil }
        return Int(tens - digits.lowerBound) * 10 + Int(ones - digits.lowerBound)
    }
}
