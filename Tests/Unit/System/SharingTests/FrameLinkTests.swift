import Glibc
import Hosting
import JSON
import Testing
import TestSupport
import Transport

@testable import Sharing

/// One end of a connection; the other end is the test's.
@Suite struct FrameLinkTests {
    private struct Pair {
        let link: CInt
        let other: CInt

        init() throws {
            var ends: [CInt] = [-1, -1]
            let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
            (link, other) = (ends[0], ends[1])
        }
    }

    @EventLoop
    private func link(
        _ descriptor: CInt, frames: Mailbox<JSONObject>, closed: Mailbox<HostError?>
    ) throws -> FrameLink {
        try FrameLink(
            descriptor, receive: { (frame, _) throws(HostError) in frames.put(frame) }, closed: { closed.put($0) })
    }

    @Test("A peer that does not read loses its connection, and the memory is bounded")
    func silentPeer() async throws {
        let pair = try Pair()
        defer { close(pair.other) }
        let (frames, closed) = (Mailbox<JSONObject>(), Mailbox<HostError?>())
        let link = try await link(pair.link, frames: frames, closed: closed)
        let frame = try FrameDecoder.encode(["text": .string(String(repeating: "x", count: 1 << 20))])
        await Self.send(frame, times: 40, over: link)
        let error = try await closed.next()
        #expect(error?.code == .limit)
        #expect(await !link.isOpen)
    }

    @EventLoop
    private static func send(_ frame: [UInt8], times: Int, over link: FrameLink) {
        for _ in 0..<times { link.send(frame) }
    }

    @Test("Frames come through, and the end of the peer is told once")
    func peerEnds() async throws {
        let pair = try Pair()
        let (frames, closed) = (Mailbox<JSONObject>(), Mailbox<HostError?>())
        let link = try await link(pair.link, frames: frames, closed: closed)
        let bytes = try FrameDecoder.encode(["a": 1]) + FrameDecoder.encode(["b": 2])
        #expect(Glibc.send(pair.other, bytes, bytes.count, 0) == bytes.count)
        #expect(try await frames.next() == ["a": 1])
        #expect(try await frames.next() == ["b": 2])
        close(pair.other)
        #expect(try await closed.next() == nil)
        #expect(await !link.isOpen)
    }

    @Test("A frame that can't be read ends the connection")
    func nonsense() async throws {
        let pair = try Pair()
        defer { close(pair.other) }
        let (frames, closed) = (Mailbox<JSONObject>(), Mailbox<HostError?>())
        let link = try await link(pair.link, frames: frames, closed: closed)
        let bytes: [UInt8] = [0, 0, 0, 2, 0x5B, 0x5D]
        #expect(Glibc.send(pair.other, bytes, bytes.count, 0) == bytes.count)
        #expect(try await closed.next()?.code == .undecodable)
        #expect(await !link.isOpen)
    }
}
