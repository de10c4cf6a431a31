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

    /// A bucket keeps the newest value of each key. Creates it if it is not there; one that is there stays as it is.
    ///
    /// - Parameter replicas: on so many servers, 1 to 5.
    package func createBucket(_ name: String, replicas: Int, then: @escaping Then<Void>) {
        let configuration: JSONObject = [
            "name": .string("KV_\(name)"), "subjects": ["$KV.\(name).>"], "max_msgs_per_subject": 1,
            "storage": "file", "num_replicas": .integer(Int64(replicas)), "discard": "new", "deny_delete": true,
            "allow_rollup_hdrs": true, "allow_direct": true,
        ]
        call("STREAM.CREATE.KV_\(name)", configuration) { result in
            // "stream name already in use", with another configuration: the operator's.
            if case .failure(let error) = result, error.apiCode == 10_058 { return then(.success(())) }
            then(result.map { _ in })
        }
    }

    /// The value of a key; `nil` = it has none.
    package func get(_ key: String, in bucket: String, then: @escaping Then<[UInt8]?>) {
        let message = NATSMessage(subject: "$JS.API.DIRECT.GET.KV_\(bucket).$KV.\(bucket).\(key)")
        client.request(message, timeout: Self.timeout) { result in
            switch result {
            case .failure(let error): then(.failure(error))
            case .success(let message):
                switch message.headers.status {
                case nil: then(.success(message.headers["KV-Operation"] == nil ? message.payload : nil))
                case 404: then(.success(nil))
                case let status?:
                    then(
                        .failure(NATSError(.refused, "JetStream answered \(status) to a read of the bucket \(bucket)")))
                }
            }
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
