import CLinux
import Glibc
import Transport

/// Where a service that was browsed can be reached.
struct ResolvedService: Sendable, Equatable {
    let url: String
    let did: String?
    /// What is tried first, is least: IPv4, then global IPv6, then addresses that hold on one link only.
    let rank: Int

    /// Reads Avahi's answer to `ResolveService`. `nil` for what no WebSocket can be opened to, or another version of
    /// the record. `interfaceName` gives the name of an interface by its number.
    init?(_ values: [BusValue], interfaceName: (UInt32) -> String?) {
        var fields = BusFields(values)
        guard let interface = try? fields.int32(), (try? fields.int32()) != nil,
            (try? fields.text()) != nil, (try? fields.text()) != nil, (try? fields.text()) != nil,
            (try? fields.text()) != nil, (try? fields.int32()) != nil,
            let address = try? fields.text(limit: 64), let port = try? fields.uint16(), port != 0,
            let entries = try? fields.array(), let flags = try? fields.uint32(),
            let record = TXTRecord(entries: entries),
            let place = Self.place(of: address, isLocal: flags & Avahi.isLocal != 0)
        else { return nil }
        var host = address
        if place.isIPv6 {
            if place.needsScope {
                guard let index = UInt32(exactly: interface), index > 0, let name = interfaceName(index),
                    Self.isPlain(name)
                else { return nil }
                host += "%\(name)"
            }
            host = "[\(host)]"
        }
        let text = "ws://\(host):\(port)\(record.path)"
        guard (try? WebSocketURL(text)) != nil else { return nil }
        url = text
        did = record.did
        rank = place.rank
    }

    private struct Place {
        var rank: Int
        var isIPv6 = false
        var needsScope = false
    }

    private static func place(of address: String, isLocal: Bool) -> Place? {
        var v4 = in_addr()
        if inet_pton(AF_INET, address, &v4) == 1 {
            let number = UInt32(bigEndian: v4.s_addr)
            switch number >> 24 {
            case 0, 224...255: return nil
            // Only a relay of this machine is at its loopback address, whoever says so.
            case 127: return isLocal ? Place(rank: 4) : nil
            default: return Place(rank: number >> 16 == 0xa9fe ? 2 : 0)
            }
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, address, &v6) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &v6) { Array($0) }
        let lead = (bytes.first ?? 0, bytes.dropFirst().first ?? 0)
        if bytes.dropLast().allSatisfy({ $0 == 0 }) {
            return bytes.last == 1 && isLocal ? Place(rank: 4, isIPv6: true) : nil
        }
        if lead.0 == 0xff { return nil }
        if lead.0 == 0xfe, lead.1 & 0xc0 == 0x80 { return Place(rank: 3, isIPv6: true, needsScope: true) }
        return Place(rank: 1, isIPv6: true)
    }

    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// The name of an interface of this machine.
    static func interfaceName(_ index: UInt32) -> String? {
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(index, &name) != nil else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
