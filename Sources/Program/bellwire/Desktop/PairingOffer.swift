import JSON
import SystemServices

/// A desktop's code for pairing, as the user sees it.
struct PairingOffer {
    let payload: String
    /// The relay that devices use. The digits do not contain it.
    let relayURL: String?

    init(payload: String) {
        self.payload = payload
        let fields = try? JSONValue(parsing: payload)
        relayURL = fields?["relayUrl"]?.string ?? fields?["signalingUrl"]?.string
    }

    /// - Parameter notice: printed last, below the digits.
    func draw(textOnly: Bool, before notice: String = "") throws(Failure) {
        let warning = loopbackWarning
        // Digits that the relay has still to provide take as many columns.
        let below = [warning.map { "bellwire: \($0)" }, typing("000000-000000"), notice].compactMap { $0 }
        try QRDrawing.show(
            payload,
            says: "Scan this code with a device, or pass its text to bellwire pair. It expires in five minutes.",
            textOnly: textOnly, below: below)
        if let warning { Output.notice(warning) }
    }

    /// - Parameter code: of `bw_desktop_code()`.
    func showDigits(_ code: JSONValue) { Output.line(typing(code["code"]?.string ?? "")) }

    private func typing(_ digits: String) -> String {
        "Or type digits: bellwire pair --code \(digits)\(relayURL.map { " --relay-url \($0)" } ?? "")"
    }

    /// A code that names 127.0.0.1 sends another machine to itself.
    private var loopbackWarning: String? {
        guard let host = relayURL?.split(separator: "/").dropFirst().first,
            ["127.", "localhost:", "[::1]:"].contains(where: { "\(host):".hasPrefix($0) })
        else { return nil }
        let other =
            InterfaceAddresses.reachableIPv4().first.map { "--lan, whose relay is on \($0)" } ?? "--relay HOST:PORT"
        return "this code works only on this machine: its relay is at \(host). For other machines, use \(other)"
    }
}
