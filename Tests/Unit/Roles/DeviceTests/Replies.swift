import Hosting
import JSON
import TestSupport

@testable import Device

/// Calls a command and waits for its outcome; a queued one gives its JSON like any other.
func outcome(
    _ start: (@escaping @Sendable (Result<Device.Reply, HostError>) -> Void) -> Void
) async -> Result<JSONValue, HostError> {
    let result = await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
    return result.map { (try? JSONValue(parsing: $0.json)) ?? .null }
}

/// The same, where it must succeed.
func value(
    _ start: (@escaping @Sendable (Result<Device.Reply, HostError>) -> Void) -> Void
) async throws -> JSONValue { try await outcome(start).get() }
