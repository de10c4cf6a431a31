import COnDemand

/// A message of sd-bus's, with its memory. It belongs to the thread of its connection.
final class RawMessage {
    enum Kind { case call, reply, failure, signal, other }

    /// What was read of it: sd-bus gives each value once.
    enum Reading {
        case unread
        case values([BusValue])
        case unreadable
    }

    let pointer: OpaquePointer
    var reading = Reading.unread

    /// Takes over the reference.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { bw_message_unref(pointer) }

    var kind: Kind {
        switch UInt32(bitPattern: bw_message_type(pointer)) {
        case UInt32(BW_MESSAGE_CALL): .call
        case UInt32(BW_MESSAGE_RETURN): .reply
        case UInt32(BW_MESSAGE_ERROR): .failure
        case UInt32(BW_MESSAGE_SIGNAL): .signal
        default: .other
        }
    }

    /// The cookie of the call that this answers.
    var replyCookie: UInt64? {
        var cookie: UInt64 = 0
        return bw_message_reply_cookie(pointer, &cookie) < 0 ? nil : cookie
    }

    /// The unique name of the sender, as the bus wrote it.
    var sender: String { Self.text(bw_message_sender(pointer)) }
    var path: String { Self.text(bw_message_path(pointer)) }
    var interface: String { Self.text(bw_message_interface(pointer)) }
    var member: String { Self.text(bw_message_member(pointer)) }
    /// D-Bus allows 255 bytes; what is longer comes from a bus that checks nothing.
    var errorName: String { String(Self.text(bw_message_error_name(pointer)).prefix(255)) }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        guard let pointer else { return "" }
        return String(cString: pointer)
    }

    /// An error reply as an error; `nil` for other messages.
    func failure(of what: String) -> BusError? {
        guard kind == .failure else { return nil }
        let name = errorName
        switch name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            return BusError(.absent, "\(what): the service is not on the bus", remoteName: name)
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
            "org.freedesktop.DBus.Error.TimedOut":
            return BusError(.timeout, "\(what): the service did not answer", remoteName: name)
        default:
            return BusError(.refused, "\(what) was refused: \(name)", remoteName: name)
        }
    }
}

extension RawMessage {
    /// Answers a call: this is not offered.
    func refuse() { bw_message_refuse(pointer) }

    /// For messages with a secret in them.
    func wipeWhenFreed() { bw_message_set_sensitive(pointer) }
}
