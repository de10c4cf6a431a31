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

    func draw(alsoText: Bool) throws(Failure) {
        try QRDrawing.show(
            payload,
            says: "Scan this code with a device, or pass its text to bellwire pair. It expires in five minutes.",
            alsoText: alsoText)
        warnOfLoopback()
    }

    /// - Parameter code: of `bw_desktop_code()`.
    func showDigits(_ code: JSONValue) {
        let relay = relayURL.map { " --relay-url \($0)" } ?? ""
        Output.line("Or type digits: bellwire pair --code \(code["code"]?.string ?? "")\(relay)")
    }

    /// A code that names 127.0.0.1 sends another machine to itself.
    private func warnOfLoopback() {
        guard let host = relayURL?.split(separator: "/").dropFirst().first,
            ["127.", "localhost:", "[::1]:"].contains(where: { host.hasPrefix($0) })
        else { return }
        let other =
            InterfaceAddresses.reachableIPv4().first.map { "--lan, whose relay is on \($0)" } ?? "--relay HOST:PORT"
        Output.notice(
            "this code works only on this machine: its relay is at \(host). For other machines, use \(other)")
    }
}
