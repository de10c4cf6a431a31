package import Hosting
package import JSON

/// A message from a guest to its holder.
package enum GuestMessage: Sendable {
    /// The first one, and only that.
    case hello(GuestHello)
    case call(number: UInt64, HostCall)
    /// The oldest waiting events of that source, at most `limit`; `asCopy` = by the mark of the program's copy.
    case take(number: UInt64, source: HostEvent.Name, limit: Int, asCopy: Bool)
    /// Callbacks that have returned were called with everything through this row.
    case finish(number: UInt64, source: HostEvent.Name, through: Int64, asCopy: Bool)
    /// The last one of a guest that ends by itself: callbacks have been called with everything through these rows, and
    /// with nothing beyond them.
    case leave(seen: [HostEvent.Name: Int64])
    /// Asks for a sign of life: an answer with the number 0.
    case ping

    package init(_ object: JSONObject) throws(HostError) {
        let number = object["number"]?.integer.map { UInt64(bitPattern: $0) } ?? 0
        let asCopy = object["copy"]?.bool ?? false
        func source() throws(HostError) -> HostEvent.Name {
            guard let name = object["source"]?.string.flatMap({ HostEvent.Name(rawValue: $0) }) else {
                throw HostError(.undecodable, "a message names no source")
            }
            return name
        }
        switch object["message"]?.string {
        case "hello": self = .hello(try GuestHello(object))
        case "call":
            guard let name = object["name"]?.string, let arguments = object["arguments"]?.array else {
                throw HostError(.undecodable, "a call has no name or no arguments")
            }
            var call = HostCall(name, arguments)
            call.identity = try CommandIdentity(received: object)
            self = .call(number: number, call)
        case "take":
            let limit = Int(clamping: max(1, min(object["limit"]?.integer ?? 1, 1_024)))
            self = .take(number: number, source: try source(), limit: limit, asCopy: asCopy)
        case "finish":
            let through = object["through"]?.integer ?? 0
            self = .finish(number: number, source: try source(), through: through, asCopy: asCopy)
        case "leave": self = .leave(seen: .init(rows: object["seen"]))
        case "ping": self = .ping
        case let other: throw HostError(.undecodable, "unknown message \(other ?? "without a name")")
        }
    }

    package var object: JSONObject {
        func numbered(_ number: UInt64) -> JSONValue { .integer(Int64(bitPattern: number)) }
        return switch self {
        case .hello(let hello): hello.object
        case .call(let number, let call):
            [
                "message": "call", "number": numbered(number), "name": .string(call.name),
                "arguments": .array(call.arguments), "id": call.identity.id.map(JSONValue.string),
                "attempt": call.identity.id.map { _ in .string(call.identity.attempt.rawValue) },
            ]
        case .take(let number, let source, let limit, let asCopy):
            [
                "message": "take", "number": numbered(number), "source": .string(source.rawValue),
                "limit": .integer(Int64(limit)), "copy": .bool(asCopy),
            ]
        case .finish(let number, let source, let through, let asCopy):
            [
                "message": "finish", "number": numbered(number), "source": .string(source.rawValue),
                "through": .integer(through), "copy": .bool(asCopy),
            ]
        case .leave(let seen): ["message": "leave", "seen": .object(seen.rows)]
        case .ping: ["message": "ping"]
        }
    }
}

/// How a guest introduces itself.
package struct GuestHello: Sendable, Equatable {
    /// Holder and guest must speak the same one.
    package static let protocolVersion: Int64 = 2

    package var protocolVersion = GuestHello.protocolVersion
    package var library = "\(libraryVersion)"
    package var role: String
    package var taker: FeedTaker
    package var process: Int64
    /// The options that it was opened with and that belong to the role.
    package var options: JSONObject
    /// It has started the role.
    package var isStarted = false
    /// It takes the holder's options as they are.
    package var yields = false
    /// By source: through which row this program's callbacks were called, in this life of the program.
    package var handed: [HostEvent.Name: Int64] = [:]

    package init(role: String, taker: FeedTaker, process: Int64, options: JSONObject) {
        (self.role, self.taker, self.process, self.options) = (role, taker, process, options)
    }

    init(_ object: JSONObject) throws(HostError) {
        guard let version = object["protocol"]?.integer, let library = object["library"]?.string else {
            throw HostError(.undecodable, "a hello has no version")
        }
        (protocolVersion, self.library) = (version, library)
        role = object["role"]?.string ?? ""
        taker = FeedTaker(object["application"]?.string ?? "", copy: object["copy"]?.string)
        process = object["process"]?.integer ?? 0
        options = object["options"]?.object ?? [:]
        isStarted = object["started"]?.bool ?? false
        yields = object["yields"]?.bool ?? false
        handed = .init(rows: object["handed"])
    }

    fileprivate var object: JSONObject {
        [
            "message": "hello", "protocol": .integer(protocolVersion), "library": .string(library),
            "role": .string(role), "application": .string(taker.application), "copy": .text(taker.copy),
            "process": .integer(process), "options": .object(options), "started": .bool(isStarted),
            "yields": .bool(yields), "handed": .object(handed.rows),
        ]
    }
}

extension CommandIdentity {
    fileprivate init(received object: JSONObject) throws(HostError) {
        switch object["id"] ?? .null {
        case .null: self = .new
        case .string(let id):
            guard let attempt = (object["attempt"]?.string).flatMap(Attempt.init) else {
                throw HostError(.undecodable, "a call with an id does not say which attempt it is")
            }
            self = try CommandIdentity(checking: id, attempt)
        case .bool, .integer, .double, .array, .object: throw HostError(.undecodable, "a call's id is not a text")
        }
    }
}

extension [HostEvent.Name: Int64] {
    fileprivate init(rows value: JSONValue?) {
        self.init()
        for member in value?.object?.members ?? [] {
            guard let name = HostEvent.Name(rawValue: member.key), let row = member.value.integer else { continue }
            self[name] = row
        }
    }

    fileprivate var rows: JSONObject {
        var object: JSONObject = [:]
        for (name, row) in self { object[name.rawValue] = .integer(row) }
        return object
    }
}
