import NATS

/// What the bytes mean when they come in pieces of these sizes, and then as a whole.
private func operations(_ bytes: [UInt8], cuts: [Int]) -> (operations: [NATSParser.Operation], hasFailed: Bool) {
    var parser = NATSParser(maximumPayload: 256)
    var operations: [NATSParser.Operation] = []
    var start = 0
    var sizes = cuts[...]
    while start < bytes.count {
        let end = min(bytes.count, start + max(1, sizes.popFirst() ?? bytes.count))
        let piece = Array(bytes[start..<end])
        start = end
        let result = piece.withUnsafeBytes { bytes in Result { () throws(NATSError) in try parser.take(bytes) } }
        switch result {
        case .success(let read): operations += read
        case .failure: return (operations, true)
        }
    }
    return (operations, false)
}

extension FuzzTarget {
    /// A server's bytes mean the same however they are cut: what was read before an error may differ, not that there is one.
    /// The machine takes them in each of its states.
    static let nats = FuzzTarget("nats", limit: 4_096) { bytes in
        var input = FuzzInput(bytes)
        let cuts = (0..<4).map { _ in Int(input.byte()) }
        let steps = input.choice(4)
        let stream = input.rest()
        let whole = operations(stream, cuts: [])
        for sizes in [cuts, [Int](repeating: 1, count: stream.count)] {
            let pieces = operations(stream, cuts: sizes)
            try require(pieces.hasFailed == whole.hasFailed, "cut, it fails: \(pieces.hasFailed)")
            try require(whole.hasFailed || pieces.operations == whole.operations, "cut, it means something else")
        }
        for case .message(let message, _) in whole.operations {
            try require(message.payload.count <= 256, "a payload is longer than its limit")
        }
        guard let server = try? NATSServer("tls://a:b@host:1") else { throw FuzzFinding("a good URL is refused") }
        var machine = NATSConnectionStateMachine(.init(servers: [server], name: "fuzz"))
        _ = machine.subscribe("a.>", queue: nil)
        if steps > 0 { _ = machine.start(at: 0) }
        if steps > 1 { _ = machine.connected(at: 1) }
        if steps > 2 { _ = machine.secured(at: 2) }
        let actions = stream.withUnsafeBytes { machine.received($0, at: 3, random: 4) }
        try require(steps == 3 || !actions.contains { if case .deliver = $0 { true } else { false } }, "too early")
        try require(machine.deadline == nil || steps > 0, "it waits before it was started")
        _ = machine.passed(at: 10_000, random: 5)
        _ = machine.stop()
        try require(machine.deadline == nil, "it waits after it was stopped")
    }

    /// URLs and credentials: nothing but what is documented is taken, and no secret is in a name.
    static let natsOptions = FuzzTarget("nats-options", limit: 512) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let server = try? NATSServer(text) {
            try require(!server.host.isEmpty && server.port > 0, "a server without an address")
            try require(!server.name.contains("@"), "a name with a login")
        }
        _ = try? NATSCredentials(parsing: text)
        if NATSSubject.isLiteral(text) { try require(NATSSubject.isPattern(text), "a subject is no pattern") }
        if NATSSubject.isPattern(text) {
            try require(!text.contains(" ") && !text.contains("\r"), "a space in a subject")
        }
    }
}
