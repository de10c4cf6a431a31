import CBellwire
import JSON

extension Command {
    static let send = Command(
        name: "send",
        summary: "Sends a notification through a paired desktop.",
        about: [
            """
            Shows a notification on the paired desktop, which keeps it in its history. With --broadcast the desktop \
            pushes it to all its devices instead, with --to-mobile to one of them.
            """
        ],
        operands: [
            Operand(name: "TITLE", help: "At most 1,024 bytes.", isRequired: true),
            Operand(name: "BODY", help: "At most 65,536 bytes; - reads it from standard input."),
        ],
        ownOptions: [priority, icon, ignoreQuietHours, broadcast, toMobile, .desktop, sendTimeout]
            + DeviceSession.options,
        examples: [
            Example(line: "bellwire send \"Build done\" \"All tests passed\"", says: "Shows it on the desktop."),
            Example(line: "make 2>&1 | tail -n 5 | bellwire send --broadcast Build -", says: "Pushes to all devices."),
        ],
        run: { arguments throws(Failure) in try runSend(arguments) })

    private static let priority = Option(
        "priority", .required("LEVEL"), "low, normal, high or urgent.", initial: "normal",
        choices: ["low", "normal", "high", "urgent"])
    private static let icon = Option("icon", .required("NAME"), "The icon that the desktop shows with it.")
    private static let ignoreQuietHours = Option("ignore-quiet-hours", "Shown also in the desktop's quiet hours.")
    private static let broadcast = Option("broadcast", "Pushes to all devices of the desktop.")
    private static let toMobile = Option(
        "to-mobile", .optional("DEVICE"), "Pushes to the device with this id; without an id, to this one.")
    private static let sendTimeout = Option.timeout(30, "How long to wait for the connection and the answer.")

    private static func runSend(_ arguments: Arguments) throws(Failure) -> Exit {
        let pushes = arguments.has(broadcast) || arguments.has(toMobile)
        if arguments.has(broadcast), arguments.has(toMobile) {
            throw Failure(.usage, "--broadcast and --to-mobile exclude each other")
        }
        for option in [priority, icon, ignoreQuietHours] where pushes && arguments.has(option) {
            throw Failure(.usage, "--\(option.name) is for notifications that the desktop shows, not for pushes")
        }
        let timeout = try arguments.milliseconds(sendTimeout)
        let deadline = Clock.now &+ Int64(timeout)
        let body = arguments.operands.count > 1 ? arguments.operands[1] : ""
        var params: JSONObject = [
            "title": .string(arguments.operands[0]),
            "body": .string(body == "-" ? try LineInput.all().trimmed : body),
        ]
        if !pushes {
            params["priority"] = .string(arguments.text(priority) ?? "normal")
            params["icon"] = arguments.text(icon).map { .string($0) }
            if arguments.has(ignoreQuietHours) { params["respectQuietHours"] = false }
        }
        if let device = arguments.text(toMobile) { params["deviceId"] = .string(device) }

        let session = try DeviceSession(arguments)
        let desktop = try session.desktop(arguments)
        try session.connect(to: desktop, until: deadline)
        let text = JSONValue.object(params).serialized()
        let left = Int32(clamping: max(1, deadline &- Clock.now))
        let answer = try session.handle.completion { completion, userData, destroy in
            if arguments.has(broadcast) {
                bw_notification_broadcast_async(session.pointer, desktop.id, text, left, completion, userData, destroy)
            } else if arguments.has(toMobile) {
                bw_notification_send_to_mobile_async(
                    session.pointer, desktop.id, text, left, completion, userData, destroy)
            } else {
                bw_notification_send_async(session.pointer, desktop.id, text, left, completion, userData, destroy)
            }
        }
        if arguments.has(.json) { Output.json(answer) }
        return try outcome(of: answer, at: desktop, quiet: arguments.has(.json))
    }

    /// Says what became of it; a desktop that answers without success has refused.
    private static func outcome(
        of answer: JSONValue, at desktop: PairedPeer, quiet: Bool
    ) throws(Failure) -> Exit {
        let silenced = answer["silenced"]?.bool == true
        guard answer["success"]?.bool != false || silenced else {
            throw Failure(.failed, "\(desktop.name) refused: \(answer["error"]?.string ?? "it does not say why")")
        }
        guard !quiet else { return .done }
        if let delivered = answer["deliveredCount"]?.integer {
            let failed = answer["failedCount"]?.integer ?? 0
            Output.line("Pushed to \(delivered) of \(delivered &+ failed) devices of \(desktop.name).")
        } else if let delivered = answer["delivered"]?.bool {
            Output.line(
                delivered ? "Pushed by \(desktop.name)." : "\(desktop.name) took it; the device is not there now.")
        } else {
            Output.line(
                silenced ? "\(desktop.name) keeps it without showing it (quiet hours)." : "Sent to \(desktop.name).")
        }
        return .done
    }
}
