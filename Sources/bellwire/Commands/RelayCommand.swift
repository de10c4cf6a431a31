import CBellwire
import JSON

extension Command {
    static let relay = Command(
        name: "relay",
        summary: "Runs a relay: forwards frames between desktops and devices.",
        about: [
            """
            Forwards frames between peers that cannot reach each other directly, and stores frames for offline peers \
            in memory for a while. The health page serves /health and /stats. Ctrl-C stops it.
            """,
            """
            Anyone who can reach the address can register. Bellwire ids are public keys, and registering one requires \
            a proof. Other ids can be taken over while their owner is offline, so listen only on networks that you \
            trust, or use a certificate for your own host name.
            """,
        ],
        operands: [],
        ownOptions: [listenAddress, health, noHealth, certificate, key, origin, relayStateDirectory]
            + RelayLimits.options,
        examples: [
            Example(line: "bellwire relay", says: "Serves programs on this machine."),
            Example(line: "bellwire relay --listen 192.168.1.5:9001 --no-health", says: "Serves the local network."),
        ],
        run: { arguments throws(Failure) in try runRelay(arguments) })

    private static let listenAddress = Option(
        "listen", .required("HOST:PORT"), "Address where peers connect; port 0 = any free port.",
        initial: "127.0.0.1:9001")
    private static let health = Option(
        "health", .required("HOST:PORT"), "Address of the health page.", initial: "127.0.0.1:9002")
    private static let noHealth = Option("no-health", "Disables the health page.")
    private static let certificate = Option(
        "tls-certificate", .required("FILE"), "Certificate chain (PEM); peers then connect with wss://.")
    private static let key = Option("tls-key", .required("FILE"), "The certificate's private key (PEM).")

    private static let origin = Option(
        "origin", .required("URL"),
        """
        The URL that peers connect to, if it contains a host name. Proofs of ids are valid for this URL only. May be \
        given several times (default: the relay's addresses with its port).
        """
    )
    private static let relayStateDirectory = Option(
        "state-dir", .required("DIR"),
        "Stores which ids were ever proved; these always need a proof again (default: in memory only)."
    )

    private static func runRelay(_ arguments: Arguments) throws(Failure) -> Exit {
        if arguments.has(certificate) != arguments.has(key) {
            throw Failure(.usage, "--tls-certificate and --tls-key must be given together")
        }
        var options: JSONObject = ["listen": .string(arguments.text(listenAddress) ?? listenAddress.initial ?? "")]
        if !arguments.has(noHealth) { options["health"] = .string(arguments.text(health) ?? health.initial ?? "") }
        if let certificate = arguments.text(certificate), let key = arguments.text(key) {
            options["tls"] = ["certificate_file": .string(certificate), "key_file": .string(key)]
        }
        if arguments.has(origin) { options["origins"] = .array(arguments.texts(origin).map { .string($0) }) }
        options["state_dir"] = arguments.text(relayStateDirectory).map { .string($0) }
        options.merge(try RelayLimits.values(arguments))
        let handle = try Handle(.relay, options: .object(options), verbose: arguments.has(.verbose))
        let json = arguments.has(.json)
        try handle.subscribe("problem") { _, event in
            json
                ? Output.json(event) : Output.notice(event["data"]?["message"]?.string ?? "unknown problem")
        }
        try handle.start()
        let state = try result { bw_relay_state(handle.pointer, $0) }
        let address = Address(options["listen"]?.string ?? "", port: state["port"]?.integer)
        let page = Address(options["health"]?.string ?? "", port: state["healthPort"]?.integer)
        let scheme = options["tls"] == nil ? "ws" : "wss"
        if json {
            Output.json(["event": "started", "data": state])
        } else {
            let health = options["health"] == nil ? "" : ", health page http://\(page)/health"
            Output.line("Relay at \(scheme)://\(address)\(health)")
        }
        _ = try handle.wait()
        try check(bw_relay_stop(handle.pointer))
        return .done
    }
}

/// `host:port` with the port that is actually in use.
struct Address: CustomStringConvertible {
    let description: String

    init(_ text: String, port: Int64?) {
        guard let port, let colon = text.lastIndex(of: ":") else {
            description = text
            return
        }
        description = "\(text[..<colon]):\(port)"
    }
}
