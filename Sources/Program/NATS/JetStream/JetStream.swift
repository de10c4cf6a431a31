import Identity
import JSON
package import Transport

/// What is used of NATS's JetStream: streams with file storage, and buckets of keys in them.
@EventLoop
package struct JetStream {
    package typealias Then<Value> = @EventLoop (Result<Value, NATSError>) -> Void

    /// How long an answer may take, in milliseconds; a stream without a quorum gives none.
    private static let timeout: UInt64 = 2_000

    private let client: NATSClient

    package init(_ client: NATSClient) { self.client = client }

    /// A bucket keeps the newest value of each key, for ever. Creates it if it is not there; one that is there stays as it is.
    /// The result is when it was created, which tells whether it is still the same one.
    ///
    /// Fails with ``NATSError/Code/unsuitable`` if one is there that forgets keys.
    ///
    /// - Parameter replicas: on so many servers, 1 to 5.
    package func createBucket(_ name: String, replicas: Int, then: @escaping Then<String>) {
        let configuration: JSONObject = [
            "name": .string("KV_\(name)"), "subjects": [.string(Self.subject(of: name))], "max_msgs_per_subject": 1,
            "storage": "file", "num_replicas": .integer(Int64(replicas)), "discard": "new", "deny_delete": true,
            "allow_rollup_hdrs": true,
        ]
        call("STREAM.CREATE.KV_\(name)", configuration) { result in
            switch result {
            case .success(let stream): then(.success(Self.creation(of: stream)))
            // "stream name already in use", with another configuration: the operator's.
            case .failure(let error) where error.apiCode == 10_058: checkBucket(name, then)
            case .failure(let error): then(.failure(error))
            }
        }
    }

    private func checkBucket(_ name: String, _ then: @escaping Then<String>) {
        call("STREAM.INFO.KV_\(name)", [:]) { result in
            then(
                result.flatMap { stream in
                    guard let fault = Self.fault(of: stream["config"], bucket: name) else {
                        return .success(Self.creation(of: stream))
                    }
                    return .failure(NATSError(.unsuitable, "the stream KV_\(name) \(fault)"))
                })
        }
    }

    private nonisolated static func creation(of stream: JSONValue) -> String { stream["created"]?.string ?? "" }

    private nonisolated static func subject(of bucket: String) -> String { "$KV.\(bucket).>" }

    /// Why a stream can't be the bucket, and what to do about it.
    nonisolated static func fault(of configuration: JSONValue?, bucket: String) -> String? {
        func isLimited(_ member: String) -> Bool { (configuration?[member]?.integer ?? 0) > 0 }
        let subjects = configuration?["subjects"]?.array ?? []
        if !subjects.contains(.string(subject(of: bucket))) {
            return "does not store \(subject(of: bucket)); add that to its subjects"
        }
        if isLimited("max_age") { return "forgets keys after a time; set max_age to 0" }
        if configuration?["discard"]?.string != "new", isLimited("max_msgs") || isLimited("max_bytes") {
            return "forgets old keys when it is full; set discard to new"
        }
        if configuration?["retention"]?.string != "limits" {
            return "forgets keys that were read; set retention to limits"
        }
        if configuration?["storage"]?.string != "file" {
            return "forgets keys when its servers stop; set storage to file"
        }
        return nil
    }

    /// The value of a key; `nil` = it has none. The bucket's leader answers, so nothing that was stored before is missing;
    /// without a leader it fails.
    package func get(_ key: String, in bucket: String, then: @escaping Then<[UInt8]?>) {
        let wanted: JSONObject = ["last_by_subj": .string("$KV.\(bucket).\(key)")]
        call("STREAM.MSG.GET.KV_\(bucket)", wanted) { result in
            switch result {
            case .success(let answer): then(Self.value(of: answer["message"]))
            // "no message found"
            case .failure(let error) where error.apiCode == 10_037: then(.success(nil))
            case .failure(let error): then(.failure(error))
            }
        }
    }

    nonisolated static func value(of message: JSONValue?) -> Result<[UInt8]?, NATSError> {
        func decoded(_ member: String) -> [UInt8]? {
            guard let text = message?[member] else { return [] }
            return text.string.flatMap { TextEncoding.base64.decode($0) }
        }
        guard message?.object != nil, let data = decoded("data"), let block = decoded("hdrs") else {
            return .failure(NATSError(.protocolError, "JetStream's message is not one"))
        }
        do throws(NATSError) {
            let headers = block.isEmpty ? NATSHeaders() : try NATSHeaders(parsing: block[...])
            // Someone has deleted the key.
            return .success(headers["KV-Operation"] == nil ? data : nil)
        } catch {
            return .failure(error)
        }
    }

    /// Stores a key's first value, and confirms when it is on disk. A key that has one already stays as it is: then the
    /// result is `false`.
    package func create(_ key: String, _ value: [UInt8], in bucket: String, then: @escaping Then<Bool>) {
        var message = NATSMessage(subject: "$KV.\(bucket).\(key)", payload: value)
        do throws(NATSError) { try message.headers.add("Nats-Expected-Last-Subject-Sequence", "0") } catch {
            return EventLoop.post { then(.failure(error)) }
        }
        client.request(message, timeout: Self.timeout) { result in
            switch result.flatMap({ Self.answer($0.payload) }) {
            case .success: then(.success(true))
            case .failure(let error) where error.apiCode == 10_071: then(.success(false))
            case .failure(let error): then(.failure(error))
            }
        }
    }

    private func call(_ name: String, _ parameters: JSONObject, then: @escaping Then<JSONValue>) {
        let text = JSONValue.object(parameters).serialized()
        let message = NATSMessage(subject: "$JS.API.\(name)", payload: Array(text.utf8))
        client.request(message, timeout: Self.timeout) { result in then(result.flatMap { Self.answer($0.payload) }) }
    }

    /// A JSON object, with an `error` or without.
    nonisolated static func answer(_ payload: [UInt8]) -> Result<JSONValue, NATSError> {
        guard let value = try? JSONValue(parsing: payload), value.object != nil else {
            return .failure(NATSError(.protocolError, "JetStream's answer is not a JSON object"))
        }
        guard let error = value["error"] else { return .success(value) }
        let text = error["description"]?.string ?? "without a reason"
        return .failure(NATSError(.refused, "JetStream refused: \(text)", apiCode: error["err_code"]?.integer))
    }
}
