package import Hosting
package import JSON

/// A message from a guest to its holder.
package enum GuestMessage: Sendable {
    /// The first one, and only that.
    case hello(GuestHello)
    case call(number: UInt64, HostCall)
    /// The oldest waiting events of that source, at most `limit`.
    case take(number: UInt64, source: HostEvent.Name, limit: Int)
    /// Callbacks that have returned were called with everything through this row.
    case finish(number: UInt64, source: HostEvent.Name, through: Int64)
    /// The last one of a guest that ends by itself: callbacks have been called with everything through these rows, and
    /// with nothing beyond them.
    case leave(seen: [HostEvent.Name: Int64])

    package init(_ object: JSONObject) throws(HostError) {
        let number = object["number"]?.integer.map { UInt64(bitPattern: $0) } ?? 0
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
            self = .call(number: number, HostCall(name, arguments))
        case "take":
            let limit = Int(clamping: max(1, min(object["limit"]?.integer ?? 1, 1_024)))
            self = .take(number: number, source: try source(), limit: limit)
        case "finish":
            self = .finish(number: number, source: try source(), through: object["through"]?.integer ?? 0)
        case "leave": self = .leave(seen: .init(rows: object["seen"]))
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
                "arguments": .array(call.arguments),
            ]
        case .take(let number, let source, let limit):
            [
                "message": "take", "number": numbered(number), "source": .string(source.rawValue),
                "limit": .integer(Int64(limit)),
            ]
        case .finish(let number, let source, let through):
            [
                "message": "finish", "number": numbered(number), "source": .string(source.rawValue),
                "through": .integer(through),
            ]
        case .leave(let seen): ["message": "leave", "seen": .object(seen.rows)]
        }
    }
}

/// How a guest introduces itself.
package struct GuestHello: Sendable, Equatable {
    /// Holder and guest must speak the same one.
    package static let protocolVersion: Int64 = 1

    package var protocolVersion = GuestHello.protocolVersion
    package var library = "\(libraryVersion)"
    package var role: String
    package var application: String
    package var process: Int64
    /// The options that it was opened with and that belong to the role.
    package var options: JSONObject
    /// It has started the role.
    package var isStarted = false
    /// By source: through which row this program's callbacks were called, in this life of the program.
    package var handed: [HostEvent.Name: Int64] = [:]

    package init(role: String, application: String, process: Int64, options: JSONObject) {
        (self.role, self.application, self.process, self.options) = (role, application, process, options)
    }

    init(_ object: JSONObject) throws(HostError) {
        guard let version = object["protocol"]?.integer, let library = object["library"]?.string else {
            throw HostError(.undecodable, "a hello has no version")
        }
        (protocolVersion, self.library) = (version, library)
        role = object["role"]?.string ?? ""
        application = object["application"]?.string ?? ""
        process = object["process"]?.integer ?? 0
        options = object["options"]?.object ?? [:]
        isStarted = object["started"]?.bool ?? false
        handed = .init(rows: object["handed"])
    }

    fileprivate var object: JSONObject {
        [
            "message": "hello", "protocol": .integer(protocolVersion), "library": .string(library),
            "role": .string(role), "application": .string(application), "process": .integer(process),
            "options": .object(options), "started": .bool(isStarted), "handed": .object(handed.rows),
        ]
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
