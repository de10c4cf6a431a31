import Addresses
import Testing

@testable import HTTPClient

@Suite("One fetch, decided")
struct FetchStateMachineTests {
    private let home = "https://example.com/a"
    private let public1 = IPAddress("93.184.216.34")
    private let private1 = IPAddress("192.168.0.1")

    private func failure(_ action: FetchStateMachine.Action) -> String? {
        if case .finish(.failure(let error)) = action { error.code.name } else { nil }
    }

    private func redirecting(_ machine: inout FetchStateMachine, to place: String?) -> FetchStateMachine.Action {
        machine.ended(.redirect(to: place))
    }

    @Test("The addresses that are permitted are those that are used, in their order")
    func pins() throws {
        var machine = FetchStateMachine(rule: AddressRule())
        #expect(machine.begin(home) == .lookUp(host: "example.com"))
        let other = try #require(IPAddress("2606:4700::1"))
        let addresses = [try #require(private1), other, try #require(public1)]
        #expect(machine.lookedUp(addresses) == .transfer(try HTTPSURL(home), pins: [other, try #require(public1)]))
        let fetched = Fetched(bytes: [1], contentType: "x", url: home)
        #expect(machine.ended(.body([1], contentType: "x")) == .finish(.success(fetched)))
        // Nothing is heard of it any more.
        #expect(machine.deadline() == .none)
        #expect(machine.lookedUp(addresses) == .none)
        #expect(machine.ended(.redirect(to: home)) == .none)
    }

    @Test("A numeric host needs no look-up, and is judged all the same")
    func numeric() throws {
        var machine = FetchStateMachine(rule: AddressRule())
        #expect(machine.begin("https://1.2.3.4/") == .transfer(try HTTPSURL("https://1.2.3.4/"), pins: []))
        machine = FetchStateMachine(rule: AddressRule())
        #expect(failure(machine.begin("https://10.0.0.1/")) == "refused_address")
        machine = FetchStateMachine(rule: AddressRule())
        #expect(failure(machine.begin("https://[::1]/")) == "refused_address")
    }

    @Test("A name without an address, and one with none that is permitted, differ")
    func names() throws {
        for (answer, expected) in [(nil, "resolve_failed"), ([], "resolve_failed"), ([private1], "refused_address")] {
            var machine = FetchStateMachine(rule: AddressRule())
            _ = machine.begin(home)
            #expect(failure(machine.lookedUp(answer?.compactMap { $0 })) == expected)
        }
    }

    @Test(
        "Every redirect is a new address",
        arguments: [
            (nil, "redirect_refused"), ("http://example.com/", "redirect_refused"), ("", "redirect_refused"),
            ("https://a@b/", "redirect_refused"), ("file:///x", "redirect_refused"),
            ("https://127.0.0.1/", "refused_address"),
            ("https://[::ffff:1.2.3.4]/", "refused_address"), ("https://0x7f.1/", "redirect_refused"),
        ] as [(String?, String)])
    func redirects(place: String?, expected: String) throws {
        var machine = FetchStateMachine(rule: AddressRule())
        _ = machine.begin(home)
        _ = machine.lookedUp([try #require(public1)])
        #expect(failure(redirecting(&machine, to: place)) == expected)
    }

    @Test("The same name is looked up and judged anew after a redirect")
    func again() throws {
        var machine = FetchStateMachine(rule: AddressRule())
        _ = machine.begin(home)
        _ = machine.lookedUp([try #require(public1)])
        #expect(redirecting(&machine, to: "https://example.com/b") == .lookUp(host: "example.com"))
        #expect(failure(machine.lookedUp([try #require(private1)])) == "refused_address")
    }

    @Test("Five redirects and no more")
    func five() throws {
        var machine = FetchStateMachine(rule: AddressRule())
        _ = machine.begin("https://1.2.3.4/")
        for number in 1...5 {
            guard case .transfer = redirecting(&machine, to: "https://1.2.3.4/\(number)") else {
                Issue.record("redirect \(number) was refused")
                return
            }
        }
        #expect(failure(redirecting(&machine, to: "https://1.2.3.4/6")) == "redirect_refused")
    }

    @Test("Its time ends it in every state, once")
    func deadline() throws {
        var machine = FetchStateMachine(rule: AddressRule())
        _ = machine.begin(home)
        #expect(failure(machine.deadline()) == "timeout")
        #expect(machine.deadline() == .none)
        #expect(machine.lookedUp([try #require(public1)]) == .none)
        machine = FetchStateMachine(rule: AddressRule())
        _ = machine.begin("https://1.2.3.4/")
        #expect(failure(machine.deadline()) == "timeout")
        #expect(machine.ended(.body([], contentType: nil)) == .none)
    }

    @Test("What is no https address begins nothing")
    func addresses() {
        var machine = FetchStateMachine(rule: AddressRule())
        #expect(failure(machine.begin("http://example.com/")) == "not_https")
        machine = FetchStateMachine(rule: AddressRule())
        #expect(failure(machine.begin("https://127.1/")) == "bad_url")
    }
}
