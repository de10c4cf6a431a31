import COnDemand

/// One conversation with the Secret Service: its calls, in the "plain" session.
struct Keyring {
    private static let name = "org.freedesktop.secrets"
    private static let root = "/org/freedesktop/secrets"
    private static let service = "org.freedesktop.Secret.Service"
    private static let collection = "org.freedesktop.Secret.Collection"
    private static let item = "org.freedesktop.Secret.Item"
    /// No object: no prompt is needed, or there is none of the kind.
    private static let none = "/"
    /// Items that are looked at.
    private static let maximumItems = 32

    private let bus: BlockingBus
    /// The unique name of who answered first: all that follows is for it alone.
    private let owner: String
    private let session: String

    init(_ bus: BlockingBus) throws(BusError) {
        self.bus = bus
        let answer = try bus.call(
            BusCall(
                Self.name, Self.root, Self.service, "OpenSession", [.text("plain"), .variant(.text(""))],
                startsService: true))
        owner = answer.sender
        var fields = BusFields(try BusReader.values(of: answer))
        _ = try fields.variant()
        session = try fields.path()
    }

    private func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue]
    ) throws(SecretServiceError) -> BusFields {
        try carryOut { () throws(BusError) in
            BusFields(try BusReader.values(of: bus.call(BusCall(owner, path, interface, member, arguments))))
        }
    }

    private func carryOut<T>(_ body: () throws(BusError) -> T) throws(SecretServiceError) -> T {
        do {
            return try body()
        } catch {
            throw SecretServiceError(error)
        }
    }

    // MARK: Collections

    /// The default collection, unlocked.
    func unlockedCollection() throws(SecretServiceError) -> String {
        var alias = try call(Self.root, Self.service, "ReadAlias", [.text("default")])
        let path = try carryOut { () throws(BusError) in try alias.path() }
        guard path != Self.none else { throw SecretServiceError.noKeyring }
        var property = try call(
            path, "org.freedesktop.DBus.Properties", "Get", [.text(Self.collection), .text("Locked")])
        let isLocked = try carryOut { () throws(BusError) in try property.variant() }
        guard case .bool(let isLocked) = isLocked else {
            throw SecretServiceError(.malformed, "the Secret Service did not report whether its keyring is locked")
        }
        if isLocked { try unlock(path) }
        return path
    }

    /// Unlocks a collection or an item, if that takes no dialogue.
    private func unlock(_ path: String) throws(SecretServiceError) {
        var answer = try call(Self.root, Self.service, "Unlock", [.array([.path(path)], of: "o")])
        let (unlocked, prompt) = try carryOut { () throws(BusError) in (try answer.paths(), try answer.path()) }
        guard prompt == Self.none, unlocked.contains(path) else { throw SecretServiceError.locked }
    }

    // MARK: Items

    /// All that has the attributes, unlocked.
    func items(_ attributes: SecretAttributes) throws(SecretServiceError) -> [String] {
        let (unlocked, locked) = try search(attributes)
        for item in locked { try unlock(item) }
        return unlocked + locked
    }

    func firstItem(_ attributes: SecretAttributes) throws(SecretServiceError) -> String? {
        let (unlocked, locked) = try search(attributes)
        if let item = unlocked.first { return item }
        guard let item = locked.first else { return nil }
        try unlock(item)
        return item
    }

    private func search(
        _ attributes: SecretAttributes
    ) throws(SecretServiceError) -> (unlocked: [String], locked: [String]) {
        var answer = try call(Self.root, Self.service, "SearchItems", [attributes.value])
        return try carryOut { () throws(BusError) in
            (try answer.paths(limit: Self.maximumItems), try answer.paths(limit: Self.maximumItems))
        }
    }

    func delete(_ item: String) throws(SecretServiceError) {
        var answer = try call(item, Self.item, "Delete", [])
        let prompt = try carryOut { () throws(BusError) in try answer.path() }
        guard prompt == Self.none else { throw SecretServiceError.locked }
    }

    func create(
        _ secret: SecretBytes, label: String, attributes: SecretAttributes, in collection: String
    ) throws(SecretServiceError) {
        let properties = BusValue.array(
            [
                .entry(.text("\(Self.item).Label"), .variant(.text(label))),
                .entry(.text("\(Self.item).Attributes"), .variant(attributes.value)),
            ], of: "{sv}")
        let call = BusCall(owner, collection, Self.collection, "CreateItem", [properties])
        let (item, prompt) = try carryOut { () throws(BusError) -> (String, String) in
            let answer = try bus.call(call, isSecret: true) { (writer) throws(BusError) in
                try writer.open("r", "oayays")
                try writer.append(.path(session))
                try writer.append(.bytes([]))
                try secret.withBytes { (bytes) throws(BusError) in try writer.bytes(bytes) }
                try writer.append(.text("application/octet-stream"))
                try writer.close()
                try writer.append(.bool(true))
            }
            var fields = BusFields(try BusReader.values(of: answer))
            return (try fields.path(), try fields.path())
        }
        guard item != Self.none, prompt == Self.none else { throw SecretServiceError.locked }
    }

    /// The secret of an item. It is copied once, out of the message, whose memory is wiped.
    func secret(of item: String) throws(SecretServiceError) -> SecretBytes {
        try carryOut { () throws(BusError) in
            let call = BusCall(owner, item, Self.item, "GetSecret", [.path(session)])
            let answer = try bus.call(call, isSecret: true)
            var bytes: UnsafeRawPointer?
            var count = 0
            guard bw_message_enter(answer.pointer, CChar(UInt8(ascii: "r")), "oayays") > 0,
                bw_message_skip(answer.pointer, "oay") >= 0,
                bw_message_read_bytes(answer.pointer, &bytes, &count) > 0,
                count <= SecretService.maximumSecret
            else { throw BusError(.malformed, "the Secret Service did not send a secret") }
            return SecretBytes(copying: UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
        }
    }
}
