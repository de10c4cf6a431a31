import JSON
import Pairing
import Signalling
import TestSupport
import Testing
import Wire

@testable import Peering

private let desk = PeerID("desk")
private let other = PeerID("other")

@Suite struct RouteTableTests {
    /// A device that is reached by its desktop over a LAN and a relay, both up.
    private func device(_ urls: [String] = ["lan", "relay"]) -> RouteTable {
        var table = RouteTable(.device)
        _ = table.setPeers([RoutedPeer(desk, over: urls)])
        _ = table.start()
        for url in urls { _ = table.linkChanged(RouteID(url), .online) }
        return table
    }

    private func reports(_ actions: [RouteTable.Action]) -> [RouteEvent] {
        actions.compactMap { if case .report(let event) = $0 { event } else { nil } }
    }

    /// Reports without the connections.
    private func reaches(_ actions: [RouteTable.Action]) -> [RouteEvent] {
        reports(actions).filter { event in
            switch event {
            case .reachable, .lost: true
            default: false
            }
        }
    }

    @Test("a desktop is absent only when every relay that is up has called it absent")
    func absence() {
        var table = device()
        #expect(table.bestRoute(of: desk) == "lan")
        #expect(reaches(table.peerOffline(desk, over: "lan")) == [.reachable(desk, over: "relay")])
        #expect(table.isReachable(desk) && !table.isAbsent(desk))
        #expect(table.bestRoute(of: desk) == "relay", "what is sent avoids the relay that has called it absent")
        let lost = table.peerOffline(desk, over: "relay")
        #expect(reports(lost).first == .peerOffline(desk, over: "relay"))
        #expect(reaches(lost) == [.lost(desk, .absent)])
        #expect(table.isAbsent(desk) && table.connection(of: desk)["online"] == false)
        #expect(table.bestRoute(of: desk) == "lan", "it can still be asked")
    }

    @Test("each relay keeps its own word: one that calls a desktop present does not speak for the other")
    func ownWord() {
        var table = device()
        _ = table.peerOffline(desk, over: "lan")
        _ = table.peerOffline(desk, over: "relay")
        let present = table.peerStatus(desk, isOnline: true, over: "relay")
        #expect(reaches(present) == [.reachable(desk, over: "relay")])
        #expect(reports(present).last == .peerOnline(desk, over: "relay"))
        #expect(reaches(table.peerStatus(desk, isOnline: false, over: "relay")) == [.lost(desk, .absent)])
        #expect(reaches(table.heard(desk, over: "lan", isLive: false)) == [], "what was stored tells nothing")
        #expect(reaches(table.heard(desk, over: "lan", isLive: true)) == [.reachable(desk, over: "lan")])
        #expect(table.heard(desk, over: "lan", isLive: true) == [])
    }

    @Test("what a relay has said ends with its registration, and a relay that is down says nothing")
    func registration() {
        var table = device()
        _ = table.peerOffline(desk, over: "lan")
        #expect(reaches(table.linkChanged("relay", .connecting)) == [.lost(desk, .absent)])
        #expect(reaches(table.linkChanged("lan", .connecting)) == [.lost(desk, .disconnected)])
        #expect(reaches(table.linkChanged("lan", .online)) == [.reachable(desk, over: "lan")])
    }

    @Test("a link that is up and called it absent, then ends: disconnected, not absent")
    func reasons() {
        var table = device(["relay"])
        #expect(reaches(table.peerOffline(desk, over: "relay")) == [.lost(desk, .absent)])
        #expect(reaches(table.linkChanged("relay", .registering)) == [.lost(desk, .disconnected)])
    }

    @Test("strangers are reported and change nothing")
    func strangers() {
        var table = device()
        #expect(table.peerOffline(other, over: "lan") == [.report(.peerOffline(other, over: "lan"))])
        #expect(table.peerStatus(other, isOnline: true, over: "lan") == [.report(.peerOnline(other, over: "lan"))])
        #expect(table.peerOffline(desk, over: "nowhere") == [])
        var desktop = RouteTable(.desktop)
        _ = desktop.start(standing: ["own"])
        _ = desktop.linkChanged("own", .online)
        #expect(desktop.heard(other, over: "own", isLive: true) == [])
        #expect(table.bestRoute(of: other) == nil)
    }

    @Test("whether a relay reports absent peers is told before the route, and again when it changes")
    func reporting() {
        var table = RouteTable(.desktop)
        _ = table.setPeers([RoutedPeer(desk, over: [])])
        _ = table.start(standing: ["own", "public"])
        #expect(
            reports(table.linkChanged("public", .online, relay: RelayFacts(absenceReporting: .unknown))).prefix(3) == [
                .linkChanged("public", .online), .absenceReporting(desk, .unknown, over: "public"),
                .reachable(desk, over: "public"),
            ])
        #expect(
            reports(table.learned("public", RelayFacts(absenceReporting: .silent))) == [
                .absenceReporting(desk, .silent, over: "public")
            ])
        #expect(table.learned("public", RelayFacts(absenceReporting: .silent)) == [])
        #expect(table.learned("nowhere", RelayFacts(absenceReporting: .silent)) == [])
        // Heard there, it is reached there, until another relay has it: the silent one would not say that it has left.
        _ = table.linkChanged("own", .online)
        _ = table.heard(desk, over: "public", isLive: true)
        #expect(table.bestRoute(of: desk) == "public")
        let home = reports(table.peerStatus(desk, isOnline: true, over: "own"))
        #expect(
            home == [
                .absenceReporting(desk, .reports, over: "own"), .reachable(desk, over: "own"),
                .peerOnline(desk, over: "own"),
            ])
        let moved = reports(table.peerOffline(desk, over: "own"))
        #expect(
            moved == [
                .peerOffline(desk, over: "own"), .absenceReporting(desk, .silent, over: "public"),
                .reachable(desk, over: "public"),
            ])
        // It was only late.
        let late = reports(table.peerOffline(other, over: "public"))
        #expect(late == [.absenceReporting(desk, .reports, over: "public"), .peerOffline(other, over: "public")])
    }

    @Test("links are opened while a peer or a pairing needs them, and then closed")
    func wanted() {
        var table = RouteTable(.device)
        #expect(table.hold(["code"]) == [.open("code", at: "code", isSuspended: false)])
        _ = table.setPeers([RoutedPeer(desk, over: ["relay", "relay"])])
        #expect(table.opened == ["code"], "nothing of the peers' is wanted before the start")
        #expect(table.start().first == .open("relay", at: "relay", isSuspended: false))
        _ = table.suspend()
        let both = table.setPeers([RoutedPeer(desk, over: ["relay"]), RoutedPeer(other, over: ["second"])])
        #expect(both.first == .open("second", at: "second", isSuspended: true))
        #expect(table.hold([]).first == .close("code"))
        #expect(table.setPeers([RoutedPeer(other, over: ["second"])]).first == .close("relay"))
        #expect(table.stop().first == .close("second"))
        #expect(table.connection(of: desk) == ["online": false, "routes": []])
    }

    @Test("a url that is none is told once while it is wanted")
    func invalid() {
        var table = RouteTable(.device)
        _ = table.setPeers([RoutedPeer(desk, over: ["bad", "relay"])])
        _ = table.start()
        #expect(reports(table.openFailed("bad", message: "no url")).first == .invalid("bad", message: "no url"))
        #expect(table.openFailed("bad", message: "no url") == [])
        #expect(table.hold(["bad"]) == [], "it is not tried again")
        #expect(table.isInvalid("bad") && !table.isInvalid("relay"))
        _ = table.hold([])
        _ = table.setPeers([])
        #expect(table.hold(["bad"]) == [.open("bad", at: "bad", isSuspended: false)])
    }

    @Test("the host hears of a desktop's connection when it is another one, with every link that it has")
    func connections() {
        var table = RouteTable(.device)
        #expect(
            reports(table.setPeers([RoutedPeer(desk, over: ["relay"])])) == [
                .connectionChanged(
                    desk,
                    [
                        "online": false,
                        "routes": [["url": "relay", "state": "offline"]],
                    ])
            ])
        _ = table.start()
        let online: JSONObject = ["online": true, "routes": [["url": "relay", "state": "online"]]]
        #expect(reports(table.linkChanged("relay", .online)).last == .connectionChanged(desk, online))
        #expect(reports(table.linkChanged("relay", .online)) == [.linkChanged("relay", .online)])
    }

    @Test("a desktop's devices come over every link; the one that they were heard over last is the best")
    func desktop() {
        var table = RouteTable(.desktop)
        _ = table.start(standing: ["own", "relay"])
        _ = table.setPeers([RoutedPeer(desk, over: [])])
        _ = table.linkChanged("own", .online)
        _ = table.linkChanged("relay", .online)
        #expect(table.bestRoute(of: desk) == "own" && table.bestRoute(of: other) == "own")
        #expect(reaches(table.heard(desk, over: "relay", isLive: false)) == [.reachable(desk, over: "relay")])
        #expect(table.routes(of: desk) == ["relay", "own"] && table.routes(of: other) == ["own", "relay"])
        #expect(reaches(table.peerOffline(desk, over: "relay")) == [.reachable(desk, over: "own")])
        #expect(reaches(table.peerOffline(desk, over: "own")) == [.lost(desk, .absent)])
        let down = reports(table.linkChanged("own", .connecting))
        let connection: JSONObject = [
            "online": true,
            "routes": [["url": "own", "state": "connecting"], ["url": "relay", "state": "online"]],
        ]
        #expect(down.last == .connectionChanged(nil, connection))
        #expect(table.connection(of: nil) == connection)
        #expect(table.peers(over: "own") == [desk])
    }

    @Test(
        "a relay on the local network rests while its desktop is reached over its other relay, unless a pairing needs it"
    )
    func resting() {
        var table = RouteTable(.device)
        _ = table.setPeers([RoutedPeer(desk, over: ["lan", "relay"], lan: "lan", relay: "relay")])
        _ = table.start()
        #expect(table.linkChanged("relay", .online).contains(.rest("lan", true)))
        #expect(table.peerOffline(desk, over: "relay").contains(.rest("lan", false)), "it may be at home alone")
        #expect(table.heard(desk, over: "relay", isLive: true).contains(.rest("lan", true)))
        #expect(table.hold(["lan"]).contains(.rest("lan", false)))
        #expect(table.hold([]).contains(.rest("lan", true)))
        #expect(table.linkChanged("relay", .connecting).contains(.rest("lan", false)))
    }

    @Test("the rules of resting")
    func restingRules() {
        let both = RoutedPeer(desk, over: [], lan: "lan", relay: "relay")
        func resting(_ peers: [RoutedPeer], absent: PeerID? = nil, online: Set<RouteID>) -> Set<RouteID> {
            restingRoutes(of: peers) { online.contains($1) && $0 != absent }
        }
        #expect(resting([both], online: ["relay"]) == ["lan"])
        #expect(resting([both], online: ["relay", "lan"]) == ["lan"], "it changes nothing of a session that stands")
        #expect(resting([both], online: []).isEmpty)
        #expect(resting([both], online: ["lan"]).isEmpty)
        #expect(resting([both], absent: desk, online: ["relay"]).isEmpty)
        let alone = RoutedPeer(other, over: [], lan: "lan")
        #expect(resting([alone], online: ["relay"]).isEmpty)
        #expect(resting([both, alone], online: ["relay"]).isEmpty)
        #expect(resting([both, RoutedPeer(other, over: [], relay: "lan")], online: ["relay"]).isEmpty)
        #expect(resting([RoutedPeer(other, over: [], lan: "x", relay: "x")], online: ["x"]).isEmpty)
    }
}
