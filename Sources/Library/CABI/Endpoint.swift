import CBellwire
import Glibc
import Hosting
import JSON

/// The object behind a handle: a role, and the queue to its host.
protocol Endpoint: AnyObject, Sendable {
    associatedtype Kind: Role
    var role: Kind { get }
    var queue: HostQueue { get }
}

/// The common interface of the three kinds of handle.
extension Endpoint {
    /// Opens a role and returns its handle to the program. `open` gets the channel to the program's queue, and returns
    /// whether the library dispatches by itself.
    static func open(
        to handle: UnsafeMutablePointer<OpaquePointer?>?,
        _ open: (HostChannel) throws(HostError) -> (Kind, threaded: Bool), _ make: (Kind, HostQueue) -> Self
    ) throws(HostError) {
        let handle = try output(handle, "the address for the handle")
        claimProcess()
        try requireHostThread()
        let queue = try HostQueue()
        try queue.requireDescriptors()
        let channel = HostChannel(
            post: { [weak queue] in queue?.post($0) }, waits: { [weak queue] in queue?.waits($0) },
            ask: { [weak queue] question in
                guard let queue else { return question.answer(nil) }
                queue.ask(question)
            },
            log: { [weak queue] level, line in if LogRing.add(level, line) { queue?.wake() } })
        let (role, isThreaded) = try open(channel)
        let endpoint = make(role, queue)
        if isThreaded {
            do throws(HostError) { try queue.startThread(from: role.sources) } catch {
                queue.close(role)
                throw error
            }
        }
        handle.pointee = HandleTable.insert(endpoint)
    }

    static func close(_ handle: OpaquePointer?) throws(HostError) {
        try requireHostThread()
        let endpoint = try HandleTable.remove(handle, as: Self.self)
        endpoint.queue.close(endpoint.role)
    }

    static func find(_ handle: OpaquePointer?) throws(HostError) -> Self {
        try HandleTable.find(handle, as: Self.self)
    }

    static func descriptor(_ handle: OpaquePointer?) -> Int32 {
        var descriptor: Int32 = -1
        let status = entry { () throws(HostError) in descriptor = try find(handle).queue.descriptor }
        return status < 0 ? status : descriptor
    }

    static func dispatch(_ handle: OpaquePointer?) throws(HostError) {
        try requireHostThread()
        let endpoint = try find(handle)
        try endpoint.queue.dispatch(from: endpoint.role.sources)
    }

    static func run(_ handle: OpaquePointer?, _ timeout_ms: Int32) throws(HostError) {
        try requireHostThread()
        let endpoint = try find(handle)
        guard timeout_ms >= -1 else {
            throw HostError(.invalid, "timeout_ms must be -1 (no limit) or at least 0", detail: ["field": "timeout_ms"])
        }
        try endpoint.queue.run(
            milliseconds: timeout_ms == -1 ? nil : Int64(timeout_ms), from: endpoint.role.sources)
    }

    static func subscribe(
        _ handle: OpaquePointer?, _ event: UnsafePointer<CChar>?, _ callback: bw_event_callback?,
        _ userData: UserData, _ subscription: UnsafeMutablePointer<bw_subscription>?
    ) throws(HostError) {
        let endpoint = try find(handle)
        let text = try text(event, "event")
        let name = HostEvent.Name(rawValue: text)
        guard name != nil || text == "*" else {
            let known = HostEvent.Name.known.map(\.rawValue).joined(separator: ", ")
            throw HostError(
                .invalid, "no such event; events are \(known), host.<your own>, and * for all",
                detail: ["field": "event"])
        }
        guard let callback else { throw HostError(.invalid, "callback is NULL", detail: ["field": "callback"]) }
        let number = try endpoint.queue.subscribe(name, callback, userData)
        subscription?.pointee = number
    }

    static func post(
        _ handle: OpaquePointer?, _ topic: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?
    ) throws(HostError) {
        let endpoint = try find(handle)
        guard let topic = HostTopic(try text(topic, "topic")) else {
            throw HostError(
                .invalid,
                "a topic is host. followed by letters, digits, dots, dashes and underscores, "
                    + "\(HostTopic.maximumBytes) bytes at most", detail: ["field": "topic"])
        }
        let text = try optionalText(data, "data_json")
        guard text?.utf8.count ?? 0 <= HostTopic.maximumDataBytes else {
            throw HostError(
                .invalid, "data_json has more than \(HostTopic.maximumDataBytes) bytes", detail: ["field": "data_json"])
        }
        try endpoint.queue.post(topic, try JSONObject(parameter: "data_json", text))
    }

    static func unsubscribe(_ handle: OpaquePointer?, _ subscription: bw_subscription) throws(HostError) {
        try find(handle).queue.unsubscribe(subscription)
    }
}
