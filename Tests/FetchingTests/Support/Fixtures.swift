import Addresses
import Testing

@testable import Fetching

func bytes(_ address: String) -> [UInt8]? { IPAddress(address)?.bytes }

enum HTTPSURLFixture {
    static func url(_ text: String) throws -> HTTPSURL { try HTTPSURL(text) }
    static func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }
}

extension WebServer {
    var rule: AddressRule { options.rule }
}
