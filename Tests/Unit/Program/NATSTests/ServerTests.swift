import NATS
import Testing

@Suite struct ServerTests {
    @Test func addresses() throws {
        let plain = try NATSServer("nats://example.org")
        #expect(plain.host == "example.org" && plain.port == 4_222 && !plain.requiresTLS && plain.login == .none)
        #expect(try NATSServer("example.org:4333").port == 4_333)
        #expect(try NATSServer("tls://h:1/").requiresTLS)
        let six = try NATSServer("nats://[::1]:5")
        #expect(six.host == "::1" && six.port == 5 && six.name == "[::1]:5")
        #expect(try NATSServer("nats://ada:p%40s:s@h").login == .password(user: "ada", "p@s:s"))
        #expect(try NATSServer("nats://secret@h").login == .token("secret"))
        #expect(try NATSServer("nats://ada:secret@h").name == "h:4222", "a log gets no login")
    }

    @Test(arguments: [
        "", "nats://", "http://h", "nats://h:0", "nats://h:65536", "nats://h:x", "nats://h/path", "nats://h?x",
        "nats:// h",
        "nats://@h", "nats://a:%zz@h", "nats://[::1", "nats://é",
    ])
    func otherTextsAreRefused(_ url: String) {
        #expect(throws: NATSError.self) { try NATSServer(url) }
    }

    /// The pair of keys of NATS's documentation ("NKeys", docs.nats.io).
    static let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
    static let publicKey = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"

    static func file(_ seed: String) -> String {
        """
        -----BEGIN NATS USER JWT-----
        eyJ0eXAi.eyJqdGki.c2ln
        ------END NATS USER JWT------

        ************************* IMPORTANT *************************

        -----BEGIN USER NKEY SEED-----
        \(seed)
        ------END USER NKEY SEED------
        """
    }

    @Test func seedsAreReadAloneAndInACredentialsFile() throws {
        #expect(try NATSCredentials(parsing: Self.seed + "\n").publicKey == Self.publicKey)
        #expect(try NATSCredentials(parsing: Self.file(Self.seed)).publicKey == Self.publicKey)
    }

    @Test(arguments: [
        "", "SU", seed.dropLast() + "A", seed.lowercased(), seed + "A", "1" + seed.dropFirst(), publicKey, file(""),
        String(repeating: "A", count: 58), String(repeating: "S", count: 10_000),
    ])
    func damagedCredentialsAreRefusedWithoutBeingShown(_ text: String) throws {
        let error = #expect(throws: NATSError.self) { try NATSCredentials(parsing: text) }
        #expect(error?.code == .invalidOption && error?.message.contains("ACSSL3") == false)
    }
}
