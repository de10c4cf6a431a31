import CBellwire
import JSON

/// Carries out what other commands ask of a desktop, whether it runs for long or only for that.
///
/// A request is an object with a `call`: `notify` and `invoke` (`method`, `params`), `devices`, `allow` (`device`,
/// `skill`, `allowance`), `offer`, `stop`.
struct ControlRequests {
    private let handle: Handle
    /// In milliseconds: how long devices and relays are waited for.
    private static let timeout: Int32 = 10_000

    init(_ handle: Handle) { self.handle = handle }

    /// Calls `then` once, now or in a later wait.
    func perform(_ request: JSONValue, then: @escaping (Result<JSONValue, Failure>) -> Void) {
        do throws(Failure) { try begin(request, then) } catch { then(.failure(error)) }
    }

    private func begin(
        _ request: JSONValue, _ then: @escaping (Result<JSONValue, Failure>) -> Void
    ) throws(Failure) {
        let params = (request["params"] ?? [:]).serialized()
        let pointer = handle.pointer
        switch request["call"]?.string {
        case "notify":
            try handle.begin(
                {
                    bw_desktop_notify_async(pointer, params, ControlRequests.timeout, $0, $1, $2)
                }, then: then)
        case "invoke":
            let method = request["method"]?.string ?? ""
            try handle.begin(
                {
                    bw_desktop_invoke_async(pointer, method, params, ControlRequests.timeout, $0, $1, $2)
                }, then: then)
        case "offer":
            try handle.begin(
                {
                    bw_desktop_offer_async(pointer, ControlRequests.timeout, $0, $1, $2)
                }, then: then)
        case "devices": then(.success(try result { bw_desktop_devices(pointer, $0) }))
        case "allow":
            let (device, skill) = (request["device"]?.string ?? "", request["skill"]?.string ?? "")
            try check(bw_desktop_allow(pointer, device, skill, request["allowance"]?.string ?? ""))
            then(.success([:]))
        default: throw Failure(.usage, "the running desktop does not know this request; it may be older")
        }
    }
}
