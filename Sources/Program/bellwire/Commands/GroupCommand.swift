import JSON

extension Command {
    static let group = Command(
        name: "group",
        summary: "Lists and changes groups of devices, for push --group.",
        about: [
            """
            Without operands it lists the groups of this machine's desktop. With NAME and DEVICEs it creates a group, \
            or replaces its devices. DEVICE is a device's name, its id or the beginning of its id. Unpairing a device \
            removes it from its groups; a group without devices is removed. The command works whether or not bellwire \
            desktop is running.
            """
        ],
        operands: [
            Operand(name: "NAME", help: "The group, 1 to 64 bytes."),
            Operand(name: "DEVICE", help: "A paired device.", repeats: true),
        ],
        ownOptions: [groupRemove, .desktopStateDirectory],
        examples: [
            Example(line: "bellwire group family Phone Laptop", says: "Creates the group family with two devices."),
            Example(line: "bellwire push --group family Dinner", says: "Pushes to both."),
            Example(line: "bellwire group --remove family", says: "Removes the group; the devices stay paired."),
        ],
        run: { arguments throws(Failure) in try runGroup(arguments) })

    static let groupRemove = Option("remove", .required("NAME"), "Removes the group.")

    private static func runGroup(_ arguments: Arguments) throws(Failure) -> Exit {
        let desktop = try LocalDesktop(arguments)
        let wanted = arguments.operands
        if let name = arguments.text(groupRemove) {
            guard wanted.isEmpty else { throw Failure(.usage, "--remove takes no operands") }
            guard try groups(desktop).contains(where: { $0["name"]?.string == name }) else {
                throw Failure(.notPaired, "no such group (see bellwire group)")
            }
            show(try set(name, [], desktop), arguments)
        } else if let name = wanted.first {
            guard wanted.count > 1 else { throw Failure(.usage, "DEVICE is missing (see bellwire group --help)") }
            let peers = try desktop.devices()
            var ids: [JSONValue] = []
            for word in wanted.dropFirst() {
                ids.append(.string(try PairedPeer.find(word, in: peers, kind: "device").id))
            }
            show(try set(name, ids, desktop), arguments)
        } else {
            show(try groups(desktop), arguments)
        }
        return .done
    }

    private static func groups(_ desktop: LocalDesktop) throws(Failure) -> [JSONValue] {
        try desktop.invoke("desktop.groups")["groups"]?.array ?? []
    }

    private static func set(
        _ name: String, _ devices: [JSONValue], _ desktop: LocalDesktop
    ) throws(Failure) -> [JSONValue] {
        try desktop.invoke("desktop.setGroup", ["name": .string(name), "devices": .array(devices)])["groups"]?.array
            ?? []
    }

    private static func show(_ groups: [JSONValue], _ arguments: Arguments) {
        if arguments.has(.json) { return Output.json("groups", groups) }
        if groups.isEmpty { return Output.notice("there are no groups; bellwire group NAME DEVICE creates one") }
        for group in groups {
            Output.line(Printable.line(group["name"]?.string ?? ""))
            for device in group["devices"]?.array ?? [] { Output.line("  " + Printable.line(device.string ?? "")) }
        }
    }
}
