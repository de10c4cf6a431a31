#if DEBUG
    import Glibc
    import Hosting
    package import JSON
    package import Sharing
    package import Testing
    package import Transport

    /// A guest of a shared state directory that sends whatever a test wants.
    @EventLoop
    package final class RawGuest {
        private let frames = Mailbox<JSONObject>()
        private let ends = Mailbox<HostError?>()
        private var link: FrameLink?
        private var lastNumber: Int64 = 0

        /// Connects, and introduces itself as a program of that name.
        package init(in directory: String, as hello: GuestHello) async throws {
            try await connect(directory)
            send(GuestMessage.hello(hello).object)
            _ = try await frames.take("the welcome", #_sourceLocation) { $0["message"] == "welcome" }
        }

        /// Connects without a hello.
        package init(in directory: String) async throws { try await connect(directory) }

        private func connect(_ directory: String) async throws {
            let descriptor = try #require(try SharedSocket(in: directory).connect())
            link = try FrameLink(
                descriptor, receive: { [frames] (frame, _) throws(HostError) in frames.put(frame) },
                closed: { [ends] in ends.put($0) })
        }

        package func send(_ object: JSONObject) {
            do throws(HostError) { try link?.send(object) } catch { Issue.record(error) }
        }

        /// Sends a call. Returns its number.
        @discardableResult
        package func call(_ name: String, _ arguments: [JSONValue], _ more: JSONObject = [:]) -> Int64 {
            lastNumber += 1
            var object: JSONObject = [
                "message": "call", "number": .integer(lastNumber), "name": .string(name),
                "arguments": .array(arguments),
            ]
            object.merge(more)
            send(object)
            return lastNumber
        }

        /// The answer to that call: its error's code, or `nil` for a success.
        package func code(of number: Int64, _ location: SourceLocation = #_sourceLocation) async throws -> String? {
            let answer = try await frames.take("the answer to call \(number)", location, within: 30_000) {
                $0["message"] == "answer" && $0["number"] == .integer(number)
            }
            return answer["error"]?["code"]?.string
        }

        /// The next frame with that member.
        package func frame(
            with key: String, _ value: JSONValue, _ location: SourceLocation = #_sourceLocation
        ) async throws -> JSONObject {
            try await frames.take("a frame", location) { $0[key] == value }
        }

        /// Waits until the holder has ended the connection.
        package func untilClosed(_ location: SourceLocation = #_sourceLocation) async throws {
            _ = try await ends.take("the end", location)
        }

        package func close() { link?.close() }
    }

    /// Values that no honest guest sends.
    package enum HostileValues {
        package static let all: [JSONValue] = [
            .null, true, 0, -1, 1, .integer(.min), .integer(.max), .integer(.min + 1), .integer(1 << 53),
            .integer(-1 << 53), .integer(1 << 31), .double(1e308), .double(-1e308), 1.5, -0.0, "", "x", "a\u{0}b",
            .string(String(repeating: "ä", count: 40_000)), [], [.integer(.min)], [:], ["timeout": .integer(.min)],
            nested(100),
        ]

        /// Those arguments with each value in each place, too few and too many.
        package static func variants(of arguments: [JSONValue]) -> [[JSONValue]] {
            var variants = [arguments, [], Array(arguments.dropLast()), arguments + all]
            for place in arguments.indices {
                for value in all {
                    var changed = arguments
                    changed[place] = value
                    variants.append(changed)
                }
            }
            return variants
        }

        package static func nested(_ levels: Int) -> JSONValue {
            (0..<levels).reduce(.null) { value, level in level.isMultiple(of: 2) ? [value] : ["a": value] }
        }
    }
#endif
