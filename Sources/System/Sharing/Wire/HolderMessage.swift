package import Hosting
package import JSON

/// A message from a holder to its guests.
package enum HolderMessage: Sendable {
    /// The hello was accepted; these are the options that the role was opened with.
    case welcome(options: JSONObject)
    /// The hello was not accepted. The holder then closes the connection.
    case refused(HostError)
    case answer(number: UInt64, Result<HostReply, HostError>)
    case taken(number: UInt64, FeedBatch)
    case event(HostEvent)
    /// There may be events to take.
    case waits(HostEvent.Name)

    package init(_ object: JSONObject) throws(HostError) {
        let number = object["number"]?.integer.map { UInt64(bitPattern: $0) } ?? 0
        switch object["message"]?.string {
        case "welcome": self = .welcome(options: object["options"]?.object ?? [:])
        case "refused": self = .refused(HostError(received: object["error"]?.object ?? [:]))
        case "answer":
            if let error = object["error"]?.object {
                self = .answer(number: number, .failure(HostError(received: error)))
            } else {
                let reply = HostReply(object["result"] ?? .null, isQueued: object["queued"]?.bool ?? false)
                self = .answer(number: number, .success(reply))
            }
        case "taken":
            var events: [WaitingEvent] = []
            for value in object["events"]?.array ?? [] {
                guard let row = value["row"]?.integer, let event = HostEvent(received: value) else {
                    throw HostError(.undecodable, "an event has no row or no name")
                }
                events.append(WaitingEvent(row: row, event: event))
            }
            var batch = FeedBatch(events, begins: object["begins"].flatMap(FeedBatch.Beginning.init(received:)))
            batch.dropped = max(0, object["dropped"]?.integer ?? 0)
            batch.isCut = object["more"]?.bool ?? false
            self = .taken(number: number, batch)
        case "event":
            guard let event = HostEvent(received: .object(object)) else {
                throw HostError(.undecodable, "an event has no name")
            }
            self = .event(event)
        case "waits":
            guard let name = object["source"]?.string.flatMap({ HostEvent.Name(rawValue: $0) }) else {
                throw HostError(.undecodable, "a message names no source")
            }
            self = .waits(name)
        case let other: throw HostError(.undecodable, "unknown message \(other ?? "without a name")")
        }
    }

    package var object: JSONObject {
        func numbered(_ number: UInt64) -> JSONValue { .integer(Int64(bitPattern: number)) }
        switch self {
        case .welcome(let options): return ["message": "welcome", "options": .object(options)]
        case .refused(let error): return ["message": "refused", "error": .object(error.object)]
        case .answer(let number, .success(let reply)):
            var object: JSONObject = ["message": "answer", "number": numbered(number), "result": reply.value]
            if reply.isQueued { object["queued"] = true }
            return object
        case .answer(let number, .failure(let error)):
            return ["message": "answer", "number": numbered(number), "error": .object(error.object)]
        case .taken(let number, let batch):
            let list = batch.events.map { event -> JSONValue in
                var object = event.event.object
                object["row"] = .integer(event.row)
                return .object(object)
            }
            var object: JSONObject = ["message": "taken", "number": numbered(number), "events": .array(list)]
            if let begins = batch.begins { object["begins"] = begins.object }
            if batch.dropped > 0 { object["dropped"] = .integer(batch.dropped) }
            if batch.isCut { object["more"] = true }
            return object
        case .event(let event):
            var object = event.object
            object["message"] = "event"
            return object
        case .waits(let name): return ["message": "waits", "source": .string(name.rawValue)]
        }
    }
}

extension HostError {
    fileprivate init(received object: JSONObject) {
        self.init(
            Code(object["code"]?.string ?? Code.undecodable.name), object["text"]?.string ?? "the call failed",
            detail: object["detail"]?.object ?? [:])
    }

    fileprivate var object: JSONObject {
        ["code": .string(code.name), "text": .string(message), "detail": .object(detail)]
    }
}

extension FeedBatch.Beginning {
    fileprivate init?(received value: JSONValue) {
        guard let slot = value["slot"]?.integer, let handed = value["handed"]?.integer,
            let offered = value["offered"]?.integer
        else { return nil }
        marks = FeedMarks(slot: slot, handed: handed, offered: offered)
        asCopy = value["copy"]?.bool ?? false
    }

    fileprivate var object: JSONValue {
        [
            "slot": .integer(marks.slot), "handed": .integer(marks.handed), "offered": .integer(marks.offered),
            "copy": .bool(asCopy),
        ]
    }
}

extension HostEvent {
    fileprivate init?(received value: JSONValue) {
        guard let name = value["name"]?.string.flatMap({ Name(rawValue: $0) }) else { return nil }
        self.init(name, desktop: value["desktop"]?.string, data: value["data"]?.object ?? [:])
    }

    fileprivate var object: JSONObject {
        ["name": .string(name.rawValue), "desktop": desktop.map(JSONValue.string), "data": .object(data)]
    }
}
