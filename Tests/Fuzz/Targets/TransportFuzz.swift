import CWslay

@testable import Transport

/// A decoder's events, with their bytes copied out.
private enum Decoded: Equatable {
    case text([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(UInt16?, [UInt8])
    case failed(UInt16, String)

    init(_ event: FrameEvent) {
        self =
            switch event {
            case .text(let text): .text(Array(text))
            case .ping(let payload): .ping(Array(payload))
            case .pong(let payload): .pong(Array(payload))
            case .close(let code, let reason): .close(code, Array(reason))
            case .failed(let code, let error): .failed(code, error.code.name)
            }
    }
}

/// What the bytes mean when they come in pieces of these sizes, and then one by one.
private func decode(
    _ bytes: [UInt8], as role: WebSocketRole, limit: Int, minorLimit: Int, cuts: [Int]
) throws -> [Decoded] {
    var decoder = FrameDecoder(role: role, limit: limit, minorLimit: minorLimit, readers: FrameReaderPool())
    var events: [Decoded] = []
    var start = 0
    var sizes = cuts[...]
    while start < bytes.count {
        let end = min(bytes.count, start + max(1, sizes.popFirst() ?? bytes.count))
        var piece = Array(bytes[start..<end])
        start = end
        let isEmpty = piece.withUnsafeMutableBytes { buffer in
            var input = UnsafeMutableRawBufferPointer(rebasing: buffer[...])
            while let event = decoder.next(&input) { events.append(Decoded(event)) }
            return input.isEmpty
        }
        try require(isEmpty, "the decoder left bytes behind")
    }
    return events
}

/// What an HTTP head means when it comes in pieces.
private func head(_ bytes: [UInt8], _ kind: HTTPHeadParser.Kind, cuts: [Int]) throws -> (text: String?, HTTPHead?) {
    let parser = HTTPHeadParser(kind, limit: 1_024)
    var start = 0
    var sizes = cuts[...]
    while start < bytes.count {
        let end = min(bytes.count, start + max(1, sizes.popFirst() ?? bytes.count))
        switch bytes[start..<end].withUnsafeBytes({ parser.take($0) }) {
        case .needsMore: start = end
        case .head(let head, let consumed):
            try require((0...end - start).contains(consumed), "a head took more bytes than there were")
            let fields = head.headers.map { "\($0.name)=\($0.value)" }
            let text =
                "\(head.method) \(head.target) \(head.status) \(head.isHTTP11) \(head.hasBody) \(head.keepsAlive)"
            return ("\(text) \(fields) \(start + consumed)", head)
        case .failed(let error): return ("failed \(error.code.name)", nil)
        }
    }
    return (nil, nil)
}

extension FuzzTarget {
    /// A stream of frames means the same whole and cut anywhere. The first bytes choose the role, the limit and the cuts.
    static let websocket = FuzzTarget("websocket", limit: 4_096) { bytes in
        var input = FuzzInput(bytes)
        let role: WebSocketRole = input.flag() ? .server : .client
        let limit = input.element([1 << 20, 64, 200, 1_000])
        let minorLimit = input.element([Int.max, 2, 8])
        let cuts = (0..<4).map { _ in Int(input.byte()) }
        let stream = input.rest()
        let whole = try decode(stream, as: role, limit: limit, minorLimit: minorLimit, cuts: [])
        for sizes in [cuts, [Int](repeating: 1, count: stream.count)] {
            let pieces = try decode(stream, as: role, limit: limit, minorLimit: minorLimit, cuts: sizes)
            try require(pieces == whole, "cut: \(pieces); whole: \(whole)")
        }
        for case .text(let text) in whole {
            try require(text.count <= limit, "a message is longer than its limit")
            try require(String(validating: text, as: UTF8.self) != nil, "a message is not UTF-8")
        }
        try encoded(whole, by: role)
    }

    /// Messages that were read are written by the other side, and read as the same.
    private static func encoded(_ events: [Decoded], by role: WebSocketRole) throws {
        let encoder = FrameEncoder(role == .server ? .client : .server)
        var queue = ByteQueue()
        var expected: [Decoded] = []
        for event in events {
            switch event {
            case .text(let text):
                text.withUnsafeBytes { whole in
                    let half = whole.count / 2
                    let pieces = [
                        UnsafeRawBufferPointer(rebasing: whole[..<half]),
                        UnsafeRawBufferPointer(rebasing: whole[half...]),
                    ]
                    pieces.withUnsafeBufferPointer { encoder.text($0, into: &queue) }
                }
            case .ping(let payload): payload.withUnsafeBytes { encoder.control(WSLAY_PING, $0, into: &queue) }
            case .pong(let payload): payload.withUnsafeBytes { encoder.control(WSLAY_PONG, $0, into: &queue) }
            case .close, .failed: continue
            }
            expected.append(event)
        }
        let again = try decode(Array(queue.bytes), as: role, limit: 1 << 20, minorLimit: .max, cuts: [])
        try require(again == expected, "what was written is read as something else")
    }

    /// A head means the same whole and cut anywhere. The first bytes choose the kind and the cuts.
    static let httpHead = FuzzTarget("http-head", limit: 1_500) { bytes in
        var input = FuzzInput(bytes)
        let kind: HTTPHeadParser.Kind = input.flag() ? .request : .response
        let cuts = (0..<4).map { _ in Int(input.byte()) }
        let text = input.rest()
        let (whole, parsed) = try head(text, kind, cuts: [])
        for sizes in [cuts, [Int](repeating: 1, count: text.count)] {
            let pieces = try head(text, kind, cuts: sizes).text
            try require(pieces == whole, "cut: \(pieces ?? "-"); whole: \(whole ?? "-")")
        }
        guard let parsed else { return }
        if case .accepted(let key) = WebSocketUpgrade.verdict(on: parsed) {
            let answer = try head(WebSocketUpgrade.agreement(key: key), .response, cuts: cuts).1
            try require(
                answer.map { WebSocketUpgrade.refusal(of: $0, key: key) == nil } == true,
                "a client refuses the agreement of a server that has accepted it")
        }
        _ = WebSocketUpgrade.refusal(of: parsed, key: "dGhlIHNhbXBsZSBub25jZQ==")
        let rule = OriginRule(allowed: ["https://page.example"], isSecure: false)
        _ = rule.permits(origin: parsed["Origin"], host: parsed["Host"], isLoopback: cuts[0] & 1 == 1)
    }

    /// Unfinished messages: the sum is the sum, no limit is passed, and nobody is closed who holds nothing.
    static let receiveBudget = FuzzTarget("receive-budget") { bytes in
        final class Holder { var network = 0, number: UInt32 = 0, bytes = 0, since: UInt64 = 0 }
        var input = FuzzInput(bytes)
        let limits = ReceiveLimits(bytes: 1_000, bytesPerNetwork: 400, limitsLoopback: true, time: 500)
        var budget = ReceiveBudget(limits)
        let holders = (0..<8).map { _ in Holder() }
        for (index, holder) in holders.enumerated() { holder.network = index / 2 }
        var now: UInt64 = 1_000
        while !input.isEmpty {
            let losers: [AnyObject]
            let holder = holders[input.choice(8)]
            if input.choice(6) == 0 {
                now += UInt64(input.byte())
                losers = budget.removeOverdue(at: now)
                for case let loser as Holder in losers {
                    try require(now - loser.since >= limits.time, "it was ended before its time")
                }
            } else {
                let held = input.element([0, 1, 50, 100, 250, 399, 400, 401])
                if input.flag() || holder.bytes == 0 {
                    holder.number &+= 1
                    holder.since = now
                }
                holder.bytes = held
                losers = budget.hold(
                    holder, of: "n\(holder.network)", isLimited: holder.network > 0, message: holder.number,
                    bytes: held,
                    at: now)
            }
            for case let loser as Holder in losers {
                try require(loser.bytes > 0, "it was closed without holding anything")
                loser.bytes = 0
            }
            let sum = holders.reduce(0) { $0 + $1.bytes }
            try require(budget.byteCount == sum, "\(budget.byteCount) bytes are counted, \(sum) are held")
            try require(sum <= limits.bytes && budget.isEmpty == (sum == 0), "\(sum) bytes are held")
            for network in 1..<4 {
                let share = holders.filter { $0.network == network }.reduce(0) { $0 + $1.bytes }
                try require(share <= limits.bytesPerNetwork, "one network holds \(share) bytes")
            }
        }
        _ = budget.removeOverdue(at: now + limits.time)
        try require(budget.isEmpty && budget.byteCount == 0, "something is never ended")
    }
}
