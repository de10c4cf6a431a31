#if DEBUG
    package import Hosting
    package import JSON
    package import Sharing

    extension SharableRole {
        /// Executes a call, as for a program that has the role to itself.
        package func perform(_ call: Call, then: @escaping Then = { _ in }) { perform(call, as: .new, then: then) }

        /// Executes a call and waits for its outcome.
        package func outcome(_ call: Call) async -> Result<JSONValue, HostError> {
            await TestSupport.outcome { perform(call, then: $0) }
        }

        /// The same, where it must succeed.
        package func value(_ call: Call) async throws -> JSONValue { try await outcome(call).get() }
    }

    extension CallTimeout: ExpressibleByIntegerLiteral {
        package init(integerLiteral milliseconds: Int64) {
            do throws(HostError) { try self.init(milliseconds) } catch { preconditionFailure(error.message) }
        }
    }

    extension JSONObject {
        /// The object of a literal text.
        package init(_ text: String) throws { self = try JSONObject(parameter: "text", text) }
    }
#endif
