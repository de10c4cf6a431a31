import Addresses
@testable import HTTPClient

extension FuzzTarget {
    /// An image's fetch: whatever a page, a name service and servers say, only public addresses are connected to, the
    /// redirects end, and it ends once.
    static let fetch = FuzzTarget("fetch", limit: 1_024) { bytes in
        var input = FuzzInput(bytes)
        let rule = AddressRule()
        var machine = FetchStateMachine(rule: rule)
        let hosts = [
            "https://a.example/x", "https://10.0.0.1/", "https://[::1]/", "https://8.8.8.8:8443/p", "http://b/",
        ]
        var action = machine.begin(input.flag() ? input.element(hosts) : input.text(60))
        var (transfers, ends) = (0, 0)
        for _ in 0..<40 {
            switch action {
            case .lookUp:
                let addresses = (0..<input.choice(4)).compactMap { _ in
                    IPAddress(bytes: input.bytes(input.flag() ? 4 : 16))
                }
                action = machine.lookedUp(input.choice(8) == 0 ? nil : addresses)
            case .transfer(let url, let pins):
                transfers += 1
                let addresses = pins.isEmpty ? [url.address].compactMap(\.self) : pins
                try require(!addresses.isEmpty && addresses.allSatisfy(rule.permits), "it connects to \(addresses)")
                try require(transfers <= FetchStateMachine.maximumRedirects + 1, "\(transfers) transfers")
                switch input.choice(4) {
                case 0: action = machine.ended(.body(input.bytes(4), contentType: nil))
                case 1: action = machine.ended(.redirect(to: input.flag() ? input.element(hosts) : location(&input)))
                case 2: action = machine.ended(.redirect(to: input.element(hosts)))
                default: action = machine.deadline()
                }
            case .finish:
                ends += 1
                action = input.flag() ? machine.deadline() : machine.ended(.redirect(to: hosts[0]))
                try require(action == .none, "it goes on after its end")
                return
            case .none: return
            }
        }
        throw FuzzFinding("it never ends")
    }

    private static func location(_ input: inout FuzzInput) -> String? {
        var head = ResponseHead()
        for _ in 0..<input.choice(5) {
            let line = input.element(["HTTP/1.1 302 x\r\n", "Location: ", "location:\t", "\r\n", "X: y\r\n"])
            let bytes = Array(line.utf8) + (line.hasSuffix("\n") ? [] : input.bytes(input.choice(40)))
            let status = input.element([200, 302, 100, 404])
            _ = bytes.withUnsafeBytes { head.take($0, status: status) }
        }
        return head.location
    }
}
