import JSON

/// How long a call waits for a peer or a person: 1 to 600,000 milliseconds.
package struct CallTimeout: Sendable, Equatable {
    package let milliseconds: UInt64

    package init(_ milliseconds: Int64) throws(HostError) {
        guard (1...600_000).contains(milliseconds) else {
            throw HostError(
                .invalid, "timeout_ms must be from 1 to 600000 milliseconds", detail: ["field": "timeout_ms"])
        }
        self.milliseconds = UInt64(milliseconds)
    }
}
