public import CBellwire
import Glibc
import Hosting
import JSON

// bellwire.h, "Library". The header is the documentation; this file does not repeat it.

@_cdecl("bw_version") @implementation
public func bw_version() -> UnsafePointer<CChar>? { staticText(libraryVersion) }

@_cdecl("bw_abi_version") @implementation
public func bw_abi_version() -> Int32 { BW_ABI_VERSION }

@_cdecl("bw_status_name") @implementation
public func bw_status_name(_ status: bw_status) -> UnsafePointer<CChar>? { staticText(Status.name(status)) }

@_cdecl("bw_free") @implementation
public func bw_free(_ pointer: UnsafeMutableRawPointer?) { free(pointer) }

@_cdecl("bw_last_error") @implementation
public func bw_last_error() -> UnsafeMutablePointer<CChar>? { LastError.copy() }

@_cdecl("bw_set_log") @implementation
public func bw_set_log(
    _ level: Int32, _ callback: bw_log_callback?, _ user_data: UnsafeMutableRawPointer?, _ destroy: bw_destroy?
) -> bw_status {
    let userData = UserData(user_data, destroy)
    return entry { () throws(HostError) in
        guard let level = LogLevel(rawValue: level) else {
            throw HostError(.invalid, "level must be a value of enum bw_log_level", detail: ["field": "level"])
        }
        LogRing.set(level, callback, userData)
    }
}

/// The bytes of a literal: they end in a NUL and live as long as the process.
private func staticText(_ text: StaticString) -> UnsafePointer<CChar>? {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}
