@testable import History
import JSON
@testable import Notifications
import Store
import Testing
import Wire

@Suite struct PermissionsTests {
    private let desktop: DesktopFixture

    init() throws { desktop = try DesktopFixture() }

    private func permissions<T: Sendable>(
        _ work: @escaping @Sendable (Permissions) throws(StoreError) -> T
    ) throws -> T {
        try desktop.database.run { connection throws(StoreError) in try work(Permissions(connection)) }
    }

    private func allow(_ allowance: Permissions.Allowance) throws {
        #expect(
            try permissions { (all) throws(StoreError) in try all.allow(allowance, to: "did:key:a", for: "notification")
            })
    }

    /// Which methods the device may call. Their parameters are empty, so most are refused later.
    private func allowed() throws -> Set<NotificationMethod> {
        var allowed: Set<NotificationMethod> = []
        for method in NotificationMethod.allCases {
            if case .ready(.error(let error)) = try desktop.handle(method).reply, error.code == .permissionDenied {
                continue
            }
            allowed.insert(method)
        }
        return allowed
    }

    private let reads: Set<NotificationMethod> = [.getHistory, .getUnreadCount, .getSettings]

    @Test("a paired device may do everything, until the desktop's user says otherwise")
    func initial() throws { #expect(try allowed() == Set(NotificationMethod.allCases)) }

    @Test("a device that may read alone is refused the rest by -32001, and nothing changes")
    func readsOnly() throws {
        try desktop.fill(1)
        try allow(.upTo(.safe))
        #expect(try allowed() == reads)
        let error = try desktop.refusal(.delete, ["notificationId": "n0"])
        #expect(error?.code == ErrorCode(-32001))
        #expect(try desktop.counts == (1, 1))
        // Before its parameters are looked at.
        #expect(try desktop.refusal(.delete)?.code == .permissionDenied)
        try allow(.nothing)
        #expect(try allowed().isEmpty)
        try allow(.upTo(.privileged))
        #expect(try allowed() == Set(NotificationMethod.allCases))
    }

    @Test("one device's allowance is nobody else's, and the desktop's own user needs none")
    func others() throws {
        try allow(.nothing)
        #expect(try desktop.refusal(.getUnreadCount)?.code == .permissionDenied)
        _ = try desktop.result(.getUnreadCount, from: .device("did:key:b", isBellwire: true))
        _ = try desktop.result(.getUnreadCount, from: .host)
        try permissions { (all) throws(StoreError) in try all.forget("did:key:a") }
        _ = try desktop.result(.getUnreadCount)
    }

    @Test("a skill that is switched off is refused to every device, not to the host")
    func disabled() throws {
        #expect(try permissions { (all) throws(StoreError) in try all.setEnabled(false, "notification") })
        #expect(try permissions { (all) throws(StoreError) in try all.setEnabled(false, "notification") })
        #expect(try desktop.refusal(.getHistory)?.code == .permissionDenied)
        _ = try desktop.result(.getHistory, from: .host)
        #expect(try permissions { (all) throws(StoreError) in try all.setEnabled(true, "notification") })
        _ = try desktop.result(.getHistory)
    }

    @Test("an allowance survives the desktop, and one that no version has written allows nothing")
    func stored() throws {
        try allow(.upTo(.safe))
        #expect(
            try permissions { (all) throws(StoreError) in try all.allowance(of: "did:key:a", for: "notification") }
                == .upTo(.safe))
        try desktop.database.run { connection throws(StoreError) in
            try connection.execute("UPDATE allowance SET risk = 99")
        }
        #expect(try allowed().isEmpty)
    }

    @Test("what no skill has is unknown, and a skill that is none cannot be set")
    func unknown() throws {
        #expect(try permissions { (all) throws(StoreError) in try all.check("files.list", by: "d") } == .unknown)
        #expect(!(try permissions { (all) throws(StoreError) in try all.setEnabled(false, "files") }))
        #expect(!(try permissions { (all) throws(StoreError) in try all.allow(.nothing, to: "d", for: "files") }))
    }

    /// A row as the wire has it: page Methods, the table, and "Wait" for what can be queued.
    private struct Fact: Equatable {
        let name: String
        let risk: Risk
        let queueing: MethodDescriptor.Queueing
        let effect: InboxEffect?

        init(_ name: String, _ risk: Risk, _ queueing: MethodDescriptor.Queueing, _ effect: InboxEffect?) {
            (self.name, self.risk, self.queueing, self.effect) = (name, risk, queueing, effect)
        }
    }

    @Test("each row has the name, risk, queueing and effect that the wire gives its method")
    func rows() {
        let facts = [
            Fact("notification.send", .mutating, .never, nil),
            Fact("notification.sendToMobile", .mutating, .never, nil),
            Fact("notification.broadcast", .mutating, .never, nil),
            Fact("notification.getHistory", .safe, .never, nil),
            Fact("notification.markAsRead", .mutating, .whole, .read),
            Fact("notification.markAllAsRead", .mutating, .whole, .allRead),
            Fact("notification.delete", .mutating, .whole, .delete),
            Fact("notification.clearAll", .mutating, .whole, .clear),
            Fact("notification.getUnreadCount", .safe, .never, nil),
            Fact("notification.getSettings", .safe, .never, nil),
            Fact("notification.updateSettings", .mutating, .byField, nil),
        ]
        #expect(
            NotificationMethod.allCases.map { Fact($0.name, $0.row.risk, $0.row.queueing, $0.row.effect) } == facts)
    }

    @Test("the registry tells the host each skill, its risk, whether it is on, and its methods")
    func registry() throws {
        _ = try permissions { (all) throws(StoreError) in try all.setEnabled(false, "notification") }
        let registry = try desktop.database.run { connection throws(StoreError) in
            try Permissions(connection).registry()
        }
        #expect(
            registry.serialized()
                == #"[{"name":"notification","risk":"mutating","enabled":false,"methods":{"#
                + #""notification.broadcast":"mutating","notification.clearAll":"mutating","#
                + #""notification.delete":"mutating","notification.getHistory":"safe","#
                + #""notification.getSettings":"safe","notification.getUnreadCount":"safe","#
                + #""notification.markAllAsRead":"mutating","notification.markAsRead":"mutating","#
                + #""notification.send":"mutating","notification.sendToMobile":"mutating","#
                + #""notification.updateSettings":"mutating"}}]"#)
    }

    @Test("names of allowances", arguments: ["nothing", "safe", "mutating", "privileged"])
    func names(name: String) {
        #expect(Permissions.Allowance(name: name)?.name == name)
        #expect(Permissions.Allowance(name: name.uppercased()) == nil)
    }
}
