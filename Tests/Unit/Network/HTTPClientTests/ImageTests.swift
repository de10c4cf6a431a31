import Alerts
import Foundation
import JSON
import Testing
import Transport

@testable import HTTPClient

@Suite("An image, from a push to its file", .serialized)
@EventLoop
struct ImageTests {
    /// The whole way; the name of the reason when there is no file at its end.
    private func image(of push: JSONObject, in cache: ImageCache) async throws -> Result<String, Reason> {
        let server = try await WebServer.get()
        guard let url = ImageSource.first(in: push) else { return .failure(Reason(name: "no address")) }
        let result = try await fetched(url, by: Fetcher(server.options))
        let answer: Fetched
        switch result {
        case .failure(let error): return .failure(Reason(name: error.code.name))
        case .success(let fetched): answer = fetched
        }
        do throws(EnrichmentError) {
            let format = try ImageFormat.accept(answer.bytes, contentType: answer.contentType)
            return .success(try cache.keep(answer.bytes, format, named: "0123456789abcdef"))
        } catch {
            return .failure(Reason(name: error.code.name))
        }
    }

    private struct Reason: Error {
        let name: String
    }

    @Test(
        "An image is kept, whatever its address is called and whichever of the kinds its header names",
        arguments: [
            "png", "untyped", "typed/image/webp", "png/%2F..%2F..%2Fetc%2Fpasswd", "png/..%2f..%2fx.svg",
            "png/x.html?a=/../../b.gif", "png/%00.exe",
        ])
    func kept(path: String) async throws {
        let cache = ImageCache(directory: NSTemporaryDirectory() + "bellwire-fetched-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(atPath: cache.directory) }
        let server = try await WebServer.get()
        let push: JSONObject = ["imageUrl": .string(server.url(path))]
        #expect(try await image(of: push, in: cache).get() == "\(cache.directory)/0123456789abcdef.png")
        #expect(try FileManager.default.contentsOfDirectory(atPath: cache.directory) == ["0123456789abcdef.png"])
    }

    @Test(
        "What is no image, or a bomb, is not kept, and the reason has a name",
        arguments: [
            ("lying", "not_an_image"), ("svg", "not_an_image"), ("typed/text/html", "not_an_image"),
            ("typed/image/svg+xml", "not_an_image"), ("zipped", "not_an_image"), ("bomb", "too_many_pixels"),
            ("status/404", "status_404"), ("endless", "too_large"), ("to/=http://127.0.0.2/", "redirect_refused"),
            ("to/=https://127.0.0.1/", "refused_address"), ("to/=https://localhost/", "refused_address"),
        ])
    func refused(path: String, reason: String) async throws {
        let cache = ImageCache(directory: NSTemporaryDirectory() + "bellwire-fetched-\(UUID().uuidString)")
        let server = try await WebServer.get()
        let push: JSONObject = ["imageUrl": "http://127.0.0.2/x.png", "media_url": .string(server.url(path))]
        let result = try await image(of: push, in: cache)
        #expect(throws: Reason.self) { try result.get() }
        if case .failure(let error) = result { #expect(error.name == reason) }
        #expect(!FileManager.default.fileExists(atPath: cache.directory))
    }
}
