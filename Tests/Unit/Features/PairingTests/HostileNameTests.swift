import JSON
import TestSupport
import Testing
import Wire

@testable import Pairing

/// Names and platforms that peers choose to deceive people, in each place where a pairing shows them.
@Suite struct HostileNameTests {
    /// What a peer calls itself, and what a person may see of it.
    private static let hostile: [(String, String)] = [
        ("PC\nEnd-to-end encrypted.", "PC End-to-end encrypted."),
        ("PC\r\u{1B}[2K\u{1B}[1AMine", "PC [2K [1AMine"),
        ("\u{9B}31mred\u{7}", "31mred"),
        ("\u{1B}]0;title\u{7}x", "]0;title x"),
        ("gnp.\u{202E}CP\u{202C}", "gnp.CP"),
        ("\u{2066}a\u{2069}\u{200E}\u{200F}\u{061C}b", "ab"),
        ("P\u{200B}C\u{FEFF}\u{2060}", "PC"),
        // An invisible name, or one that looks like another.
        ("\u{200D}", ""), ("PC\u{200D}", "PC"), ("P\u{200D}C", "PC"), ("\u{3164}\u{3164}", ""),
        ("PC\u{115F}\u{1160}\u{FFA0}", "PC"), ("P\u{34F}C\u{FE0F}\u{E0100}", "PC"), ("\u{2800}PC\u{2800}", "PC"),
        ("\u{E0041}\u{E0042}PC", "PC"), ("\u{17B4}\u{180B}", ""),
        ("a\u{2028}b\u{2029}c\u{85}d\u{A0}e", "a b c d e"),
        ("\u{E000}\u{FFFE}x", "x"),
        ("\"PC\" 'x' <b>&amp;</b>", "\"PC\" 'x' <b>&amp;</b>"),
        // What honest people call their machines stays.
        ("Zoë 👩‍👧 日本 ❤️ 👩🏽‍💻 🏳️‍🌈", "Zoë 👩‍👧 日本 ❤️ 👩🏽‍💻 🏳️‍🌈"), ("שלום مكتب", "שלום مكتب"),
    ]

    private static func info(_ name: String) -> JSONValue {
        ["deviceId": "i-1", "name": .string(name), "platform": .string(name), "version": .string(name)]
    }

    /// What each side's flow shows of a peer with this name: with no proof, so that a person is asked.
    private func shown(_ name: String) throws -> [(place: String, name: String, platform: String?)] {
        var places: [(String, JSONValue?)] = []
        var ack =
            PairAck(
                code: Fixture.code("012345"), mobileDID: Fixture.device,
                deviceInfo: Fixture.deviceIdentity.deviceInfo, timestamp: Fixture.now
            ).json.object ?? [:]
        ack["deviceInfo"] = ["deviceId": "i-1", "name": .string(name), "platform": "linux"]
        var offer = DesktopOfferStateMachine()
        _ = offer.show(Fixture.desktopOffer())
        _ = offer.received(PairingFrame(ack, from: Fixture.device), now: Fixture.now)
        places.append(("a device's ack", offer.reported.data["device"]))

        var show = DeviceShowStateMachine()
        _ = show.show(
            Fixture.code("012345"), secret: Fixture.secret, random: nil, identity: Fixture.deviceIdentity,
            over: Fixture.relay)
        _ = show.routeOnline(Fixture.relay.id, now: Fixture.now)
        var confirmation = Fixture.plainConfirmation()
        confirmation["deviceInfo"] = Self.info(name)
        _ = show.received(PairingFrame(confirmation, from: Fixture.desktop), now: Fixture.now)
        places.append(("a desktop's confirmation", show.reported.data["desktop"]))

        func text(_ json: JSONObject) -> String {
            var json = json
            json["deviceInfo"] = Self.info(name)
            return JSONValue.object(json).serialized()
        }
        let code = try #require(JSONValue(parsing: Fixture.deviceOffer().serialized()).object)
        var scan = DesktopScanStateMachine()
        _ = scan.scan(text(code), identity: Fixture.desktopIdentity, now: Fixture.now)
        places.append(("a device's code", scan.reported.data["device"]))
        return try places.map { place, peer in
            let peer = try #require(peer, "\(place) of \(name.debugDescription) is not shown")
            let platform = peer["platform"]?.string
            return (place, peer["name"]?.string ?? "", platform == "linux" ? nil : platform)
        }
    }

    @Test("a name is one line of what can be seen, wherever a person is asked about it", arguments: hostile)
    func names(name: String, expected: String) throws {
        for shown in try shown(name) {
            #expect(shown.name == expected, "\(shown.place): \(shown.name.debugDescription)")
            #expect(shown.platform ?? expected == expected, "\(shown.place): \(shown.platform?.debugDescription ?? "")")
        }
        let parsed = try #require(
            PairingDeviceInfo(namedIn: ["deviceInfo": Self.info("x" + name)]), "the name of a message")
        #expect(parsed.name == DisplayText.clean("x" + name))
    }

    @Test("long names are cut, and take no time")
    func long() throws {
        for unit in ["x", "\u{301}", "\u{202E}x", "👩‍", "\u{1B}[", "<b>", "\u{200D}\u{FE0F}"] {
            for shown in try shown(String(repeating: unit, count: 10_000)) {
                #expect(shown.name.unicodeScalars.count <= DisplayText.nameLimit, "\(shown.place)")
                #expect(shown.platform?.unicodeScalars.count ?? 0 <= DisplayText.nameLimit, "\(shown.place)")
            }
        }
    }

    @Test(
        "random names: nothing that is shown moves a cursor, turns text around or is invisible",
        arguments: 0..<20 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pieces = Self.hostile.flatMap { Array($0.0.unicodeScalars) }
        for _ in 0..<50 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0..<40, using: &random) {
                let any = Unicode.Scalar(UInt32.random(in: 0..<0xE_0200, using: &random))
                if let scalar = Bool.random(using: &random) ? pieces.randomElement(using: &random) : any {
                    text.append(scalar)
                }
            }
            for shown in try shown(String(text)) {
                let scalars = Array(shown.name.unicodeScalars)
                for (index, scalar) in scalars.enumerated() {
                    let said: Comment = "seed \(seed): \(shown.name.debugDescription)"
                    switch scalar.properties.generalCategory {
                    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                        Issue.record(said)
                    case .format: #expect(scalar == "\u{200D}" && index > 0 && index + 1 < scalars.count, said)
                    default:
                        let isVisible = !scalar.properties.isDefaultIgnorableCodePoint
                        #expect(isVisible || (index > 0 && scalar == "\u{FE0F}"), said)
                    }
                }
                #expect(DisplayText.clean(shown.name) == shown.name, "seed \(seed): cleaned twice it is another")
            }
        }
    }

    @Test("an ack with an id or a platform that is no plain word is none")
    func words() {
        for word in Self.hostile.map(\.0) {
            for key in ["deviceId", "platform"] {
                var info: JSONObject = ["deviceId": "i-1", "name": "Phone", "platform": "linux"]
                info[key] = .string(word)
                var ack = Fixture.ack()
                ack["deviceInfo"] = .object(info)
                var offer = DesktopOfferStateMachine()
                _ = offer.show(Fixture.desktopOffer())
                #expect(offer.received(PairingFrame(ack, from: Fixture.device), now: Fixture.now) == [])
                #expect(offer.dropped.malformed == 1, "\(key) \(word.debugDescription)")
            }
        }
    }

    @Test("escapes that are no characters are no frame, and surrogates are no name")
    func escapes() {
        for escape in [#"\ud800"#, #"\udc00"#, #"\ud800\u0041"#, #"\x1b"#, #"\u12"#] {
            let text =
                #"{"type":"pair-ack","pairingCode":"012345","deviceInfo":{"name":"PC\#(escape)","platform":"x"}}"#
            let frame = PairingFrame(reading: .string(text), from: Fixture.device)
            #expect(frame.payload.isEmpty, "\(escape)")
        }
    }
}
