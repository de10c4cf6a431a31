import Glibc
import Store
import TestSupport
import Testing
import Wire

@testable import Alerts

@Suite("Whose image a file is")
struct AlertImagesTests {
    @Test("A file goes with the last push that it is the image of")
    func sweep() throws {
        let database = try Database.open(path: ":memory:", migrations: AlertTable.migrations).database
        let path = "/tmp/bellwire-alert-image-\(UInt64.random(in: 0 ... .max))"
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        #expect(descriptor >= 0)
        close(descriptor)
        var isThere: Bool { access(path, F_OK) == 0 }
        @Sendable func key(_ id: AlertID) -> AlertKey { AlertKey(desktop: "d", id: id) }
        func sweep(keeping ids: Set<String>) throws {
            try database.run { (connection) throws(StoreError) in
                try AlertImages(connection).sweep { (id, _) throws(StoreError) in ids.contains(id.text) }
            }
        }
        try database.run { (connection) throws(StoreError) in
            try AlertImages(connection).keep(path, of: key("a"))
            try AlertImages(connection).keep(path, of: key("b"))
            // One that nobody needs is somebody else's, too.
            try AlertImages(connection).keep(path, of: nil)
        }
        #expect(isThere)
        try sweep(keeping: ["a", "b"])
        #expect(isThere)
        try sweep(keeping: ["b"])
        #expect(isThere)
        try sweep(keeping: ["a"])
        #expect(!isThere)
    }
}
