#if DEBUG
    package import Hosting
    package import JSON
    package import Testing
    import Transport

    /// The program around a role: keeps its events until a test asks for them.
    package final class RecordingHost: Sendable {
        private let mailbox = Mailbox<HostEvent>()
        private let pushesMailbox = Mailbox<Bool>()

        package init() {}

        package var channel: HostChannel {
            HostChannel(
                post: { [mailbox] event in EventLoop.post { mailbox.put(event) } },
                waits: { [pushesMailbox] _ in EventLoop.post { pushesMailbox.put(true) } },
                ask: { $0.answer(nil) },
                log: { _, line in
                    // A part of a line that brings the word before it: "dropped dropped a payload".
                    #expect(!Self.doublesWord(line), "\(line)")
                })
        }

        package static func doublesWord(_ text: String) -> Bool {
            let words = text.lowercased().split(separator: " ")
            return zip(words, words.dropFirst()).contains { $0 == $1 }
        }

        /// The data of the next event of that name that is like that.
        package func event(
            _ name: HostEvent.Name, _ location: SourceLocation = #_sourceLocation,
            where isWanted: @escaping @Sendable (JSONObject) -> Bool = { _ in true }
        ) async throws -> JSONObject {
            try await mailbox.take("\(name.rawValue)", location) { $0.name == name && isWanted($0.data) }.data
        }

        /// Takes the next push as a host does: marked before, handed over, marked after.
        package func push(
            from role: any Role, _ location: SourceLocation = #_sourceLocation
        ) async throws -> JSONObject {
            let source = try #require(role.sources.first, sourceLocation: location)
            while true {
                if let push = try source.take(limit: 1).first {
                    try source.finish(handed: [push.row], untouched: [])
                    return push.event.data
                }
                _ = try await pushesMailbox.take("a push", location) { _ in true }
            }
        }
    }

    /// Calls a role and waits for the outcome.
    package func outcome(_ start: (@escaping Then) -> Void) async -> Result<JSONValue, HostError> {
        let result = await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
        return result.map(\.value)
    }

    /// The same, where it must succeed.
    package func value(_ start: (@escaping Then) -> Void) async throws -> JSONValue { try await outcome(start).get() }

    extension Result<JSONValue, HostError> {
        package var error: HostError? { if case .failure(let error) = self { error } else { nil } }
    }

    extension Role {
        package func close() async {
            await withCheckedContinuation { continuation in shutDown { continuation.resume() } }
        }
    }
#endif
