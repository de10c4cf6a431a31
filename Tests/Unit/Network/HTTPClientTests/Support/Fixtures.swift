import Addresses
import Testing
import Transport

@testable import HTTPClient

func bytes(_ address: String) -> [UInt8]? { IPAddress(address)?.bytes }

enum HTTPSURLFixture {
    static func url(_ text: String) throws -> HTTPSURL { try HTTPSURL(text) }
    static func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }
}

extension WebServer {
    var rule: AddressRule { options.rule }
}

struct Unexpected: Error {}

/// Hands out one answer after the other; the last again and again.
@EventLoop
final class Turn {
    private var answers: [[[UInt8]]]

    init(_ answers: [[[UInt8]]]) { self.answers = answers }

    func next() -> [[UInt8]] { answers.count > 1 ? answers.removeFirst() : answers.first ?? [] }
}
