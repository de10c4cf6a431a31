@testable import CABI
import CBellwire
import Hosting
import Testing

struct LibraryTests {
    @Test("the header's version is the library's")
    func version() {
        #expect(BW_VERSION == libraryVersion.description)
        #expect(bw_version().map { String(cString: $0) } == BW_VERSION)
        #expect(bw_abi_version() == BW_ABI_VERSION)
    }

    @Test("every kind of error has a status of its own")
    func statuses() {
        let codes: [HostError.Code] = [
            .invalid, .busy, .offline, .timeout, .remote, .undecodable, .denied, .unsupported, .store, .closed, .io,
            .network, .pairing, .notFound, .limit, .handle, .forked, .noMemory,
        ]
        let statuses = codes.map { HostError($0, "").status }
        #expect(Set(statuses).count == codes.count)
        for status in statuses {
            let name = bw_status_name(status).map { String(cString: $0) }
            #expect(status < 0 && name?.hasPrefix("BW_E_") == true)
        }
    }
}
