/// The codes of close frames (RFC 6455, 7.4).
enum CloseCode {
    static let normal: UInt16 = 1000
    static let noneReceived: UInt16 = 1005

    /// Whether a close frame may carry it: 1004, 1005, 1006 and 1015 are only for reports, others have no meaning yet.
    static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
