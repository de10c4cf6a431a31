import CBellwire
import JSON

/// The device of one run of the program: opened with the user's options, connected to the desktop that the user means.
struct DeviceSession {
    static let options: [Option] = [.deviceStateDirectory, .caFile]

    let handle: Handle

    /// - Parameter options: further ones of `bw_device_open`, which only pairing needs.
    init(_ arguments: Arguments, options further: JSONObject = [:]) throws(Failure) {
        var options: JSONObject = [
            "state_dir": arguments.text(.deviceStateDirectory).map { .string($0) },
            "tls": arguments.text(.caFile).map { ["ca_file": .string($0)] },
            // A program with options of its own, such as a name, may have the device for itself meanwhile.
            "yields": true,
        ]
        options.merge(further)
        handle = try Handle(.device, options: .object(options), verbose: arguments.has(.verbose))
    }

    var pointer: OpaquePointer? { handle.pointer }

    func desktops() throws(Failure) -> [PairedPeer] {
        try result { bw_pairing_list(pointer, $0) }.array?.compactMap { PairedPeer($0) } ?? []
    }

    /// The desktop that `--to` means; the only one, where it is left out.
    func desktop(_ arguments: Arguments) throws(Failure) -> PairedPeer {
        let all = try desktops()
        guard let first = all.first else {
            throw Failure(
                .notPaired, "no desktop is paired yet; run bellwire pair with the text of a desktop's QR code")
        }
        guard let wanted = arguments.text(.desktop) else {
            guard all.count == 1 else {
                throw Failure(.usage, "several desktops are paired; choose one with --to: \(PairedPeer.names(of: all))")
            }
            return first
        }
        return try PairedPeer.find(wanted, in: all, kind: "desktop")
    }

    /// What is wrong with a route to a desktop, for the end of an error message; empty if nothing is known.
    var problem: String {
        let state = try? result { bw_device_state(pointer, $0) }
        let problems = (state?["connection"]?.array ?? []).compactMap { Connection($0).problem }
        return problems.first.map { ": \($0)" } ?? ""
    }

    /// Goes online and waits until the desktop's connection is up.
    func connect(to desktop: PairedPeer, until deadline: Int64) throws(Failure) {
        try DesktopConnection(self, to: desktop).wait(until: deadline)
    }
}

extension DeviceSession {
    /// Asks a desktop something, with the time that is left.
    func answer(
        of desktop: PairedPeer, until deadline: Int64,
        _ call: (Int32, bw_completion, UnsafeMutableRawPointer, bw_destroy) -> bw_status
    ) throws(Failure) -> JSONValue {
        let left = Int32(clamping: max(1, deadline &- Clock.now))
        return try handle.completion(waitingFor: "the answer from \(desktop.name)") { completion, userData, destroy in
            call(left, completion, userData, destroy)
        }
    }
}
