import CLinux

/// Tells changes of the network from the kernel's repetitions, in the bytes of its route socket.
///
/// The initial state is not read, so its first repetition also counts; one change too many is harmless. Wireless cards
/// and router advertisements repeat known facts every few seconds; only differences count.
struct NetworkChanges: Sendable {
    /// Links, addresses and routes that are remembered. When more come, all are forgotten, which counts as a change.
    static let maximumFacts = 4_096

    /// What a message is about, and what it says of it.
    private var facts: [[UInt8]: [UInt8]] = [:]

    /// Whether the datagram tells something new. Bytes that are no messages tell nothing.
    mutating func take(_ datagram: UnsafeRawBufferPointer) -> Bool {
        var isNew = false
        var offset = 0
        while let header = Header(datagram, at: offset) {
            let body = UnsafeRawBufferPointer(rebasing: datagram[(offset + Header.size)..<(offset + header.length)])
            if take(header, body) { isNew = true }
            // Messages begin at multiples of 4.
            offset += (header.length + 3) & ~3
        }
        return isNew
    }

    private mutating func take(_ header: Header, _ body: UnsafeRawBufferPointer) -> Bool {
        switch Int(header.type) {
        case RTM_NEWLINK: link(body).map { set(key: $0.key, $0.fact) } ?? false
        case RTM_DELLINK: link(body).map { remove(key: $0.key) } ?? false
        case RTM_NEWADDR: address(body).map { set(key: $0, []) } ?? false
        case RTM_DELADDR: address(body).map { remove(key: $0) } ?? false
        case RTM_NEWROUTE: route(body).map { set(key: $0, []) } ?? false
        case RTM_DELROUTE: route(body).map { remove(key: $0) } ?? false
        default: false
        }
    }

    private mutating func set(key: [UInt8], _ fact: [UInt8]) -> Bool {
        if facts.count >= Self.maximumFacts { facts.removeAll() }
        return facts.updateValue(fact, forKey: key) != fact
    }

    private mutating func remove(key: [UInt8]) -> Bool {
        facts[key] = nil
        // It may have been there before we were.
        return true
    }

    // MARK: The three kinds

    /// `ifinfomsg`: its index; its flags, as far as they say whether anything gets through.
    private func link(_ body: UnsafeRawBufferPointer) -> (key: [UInt8], fact: [UInt8])? {
        guard body.count >= 16 else { return nil }
        return ([1] + body[4..<8], Array(body[8..<12]))
    }

    /// `ifaddrmsg`: family, prefix, interface, and the address. Its lifetime, which routers renew, is no change.
    private func address(_ body: UnsafeRawBufferPointer) -> [UInt8]? {
        guard body.count >= 8 else { return nil }
        let attributes = Self.attributes(body, from: 8, of: [UInt16(IFA_ADDRESS), UInt16(IFA_LOCAL)])
        return [2] + body[0..<2] + body[4..<8] + attributes
    }

    /// `rtmsg`: what leads where. Routes of single connections and of the kernel's local table are none.
    private func route(_ body: UnsafeRawBufferPointer) -> [UInt8]? {
        guard body.count >= 12, body[4] != 255 /* RT_TABLE_LOCAL */ else { return nil }
        let flags = body.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
        guard flags & UInt32(RTM_F_CLONED) == 0 else { return nil }
        let attributes = Self.attributes(
            body, from: 12, of: [UInt16(RTA_DST.rawValue), UInt16(RTA_OIF.rawValue), UInt16(RTA_GATEWAY.rawValue)])
        return [3] + body[0..<2] + [body[4], body[7]] + attributes
    }

    /// The wanted attributes as they are, in their order.
    private static func attributes(
        _ body: UnsafeRawBufferPointer, from start: Int, of wanted: [UInt16]
    ) -> [UInt8] {
        var found: [UInt8] = []
        var offset = start
        while body.count - offset >= 4 {
            let length = Int(body.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
            let type = body.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self)
            guard length >= 4, length <= body.count - offset else { break }
            // None of the wanted is longer than an IPv6 address.
            if wanted.contains(type), length <= 64 { found += body[offset..<(offset + length)] }
            offset += (length + 3) & ~3
        }
        return found
    }

    /// `nlmsghdr`, checked against the datagram that it stands in.
    private struct Header {
        static let size = 16

        let length: Int
        let type: UInt16

        init?(_ datagram: UnsafeRawBufferPointer, at offset: Int) {
            guard datagram.count - offset >= Self.size else { return nil }
            let length = Int(datagram.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            guard length >= Self.size, length <= datagram.count - offset else { return nil }
            self.length = length
            type = datagram.loadUnaligned(fromByteOffset: offset + 4, as: UInt16.self)
        }
    }
}
