/// Takes what a relay has to say to its operator. Called on the event loop; texts are English, and hold no ids,
/// payloads or keys.
package typealias RelayLog = @Sendable (RelayLogLevel, String) -> Void

package enum RelayLogLevel: Sendable {
    case info, warning
}
