import JSON
import RelayService

extension Command {
    static let relay = Command(
        name: "relay",
        summary: "Runs a relay: forwards frames between desktops and devices.",
        about: [
            """
            Forwards frames between peers that cannot reach each other directly, and stores frames for offline peers \
            for a while: in memory, and with --state-dir on disk, too. The health page serves /health, /ready, \
            /metrics and /stats.
            """,
            """
            Ctrl-C stops it. SIGTERM makes it stop accepting and close its connections over --drain-ms. SIGHUP makes \
            it read the configuration, the lists and the certificate again; no connection is closed, except those of \
            revoked tokens and ids. If one of them has an error, the relay logs it and keeps the previous version.
            """,
            """
            Without --tokens-file and --allowed-ids-file, anyone who can reach the address can register. Bellwire ids \
            are public keys, and registering one requires a proof. Other ids can be taken over while their owner is \
            offline, so listen only on networks that you trust, or use a certificate for your own host name.
            """,
            """
            With --nats it works together with other relays: peers of all of them reach each other.
            """,
        ],
        operands: [],
        ownOptions: RelayOptionNames.options + RelayLimits.options,
        examples: [
            Example(line: "bellwire relay", says: "Serves programs on this machine."),
            Example(line: "bellwire relay --listen 192.168.1.5:9001 --no-health", says: "Serves the local network."),
            Example(
                line: "bellwire relay --config /etc/bellwire/relay.json", says: "Takes its options from a file."),
        ],
        run: { arguments throws(Failure) in try RelayRun(arguments).run() })
}

/// The options of `bellwire relay`, its limits aside.
enum RelayOptionNames {
    private static let configuration = Option(
        "config", .required("FILE"),
        """
        Options as a JSON object, with the keys of bw_relay_open() and of the relay's manual page. Options of the \
        command line take precedence.
        """)
    private static let listen = Option(
        "listen", .required("HOST:PORT"), "Address where peers connect; port 0 = any free port.",
        initial: "127.0.0.1:9001")
    private static let health = Option(
        "health", .required("HOST:PORT"), "Address of the health page.", initial: "127.0.0.1:9002")
    private static let noHealth = Option("no-health", "Disables the health page.")
    private static let certificate = Option(
        "tls-certificate", .required("FILE"), "Certificate chain (PEM); peers then connect with wss://.")
    private static let key = Option("tls-key", .required("FILE"), "The certificate's private key (PEM).")
    private static let tickets = Option(
        "tls-tickets", .required("N"), "Session tickets for each connection; 0 = clients cannot resume.", initial: "1")
    private static let origin = Option(
        "origin", .required("URL"),
        """
        The URL that peers connect to, if it contains a host name or is that of a proxy. Proofs of ids are valid for \
        this URL only. May be given several times (default: the relay's addresses with its port).
        """)
    private static let stateDirectory = Option(
        "state-dir", .required("DIR"),
        """
        Directory for the ids that were ever proved, which always need a proof from then on, and for the frames for \
        offline peers (default: in memory only).
        """)
    private static let disk = Option(
        "max-disk-bytes", .required("BYTES"),
        "Maximum size of the file of stored frames (default: twice --max-stored-bytes plus 16 MiB).")
    private static let tokens = Option(
        "tokens-file", .required("FILE"),
        """
        Only clients with a bearer token from this file may connect, one token per line. A client sends it in the \
        Authorization header, or in the relay URL: wss://HOST/?access_token=TOKEN.
        """)
    private static let allowed = Option(
        "allowed-ids-file", .required("FILE"), "Only ids from this file may register, one id per line.")
    private static let proxy = Option(
        "trusted-proxy", .required("ADDRESS"),
        """
        An address or network, such as 10.0.0.0/8, whose X-Forwarded-For header is trusted, and which may end TLS for \
        the URLs of --origin. May be given several times.
        """)
    private static let proxyProtocol = Option(
        "proxy-protocol", "Trusted proxies begin each connection with a PROXY header (version 1 or 2) instead.")
    private static let reusePort = Option(
        "reuse-port",
        """
        Lets a second relay listen on the same port, for replacing a running one. The two share peers only with --nats.
        """)
    private static let nats = Option(
        "nats", .required("URL"),
        """
        Works together with the other relays at this NATS server: nats://HOST[:4222] or tls://HOST. May be given \
        several times, for the servers of one NATS cluster.
        """)
    private static let natsCredentials = Option(
        "nats-credentials", .required("FILE"), "A .creds file with the JWT and seed of a NATS user, or only a seed.")
    private static let natsAuthorities = Option(
        "nats-ca-file", .required("FILE"), "Trusts the CA certificates in this PEM file for NATS.")
    private static let natsReplicas = Option(
        "nats-replicas", .required("COUNT"),
        "Copies of the list of proved ids among the NATS servers: 3 for a cluster of three or more (default: 1).")
    private static let node = Option(
        "node", .required("NAME"), "Unique name of this relay among the others (default: the host name).")
    private static let drain = Option(
        "drain-ms", .required("N"), "Time over which SIGTERM closes the connections, in milliseconds.",
        initial: "5000")
    private static let logFormat = Option(
        "log-format", .required("FORMAT"), "Format of standard error; json = one object per line.",
        initial: "text", choices: ["text", "json"])

    static let options: [Option] = [
        configuration, listen, health, noHealth, certificate, key, tickets, origin, stateDirectory, disk, tokens,
        allowed, proxy, proxyProtocol, reusePort, nats, natsCredentials, natsAuthorities, natsReplicas, node, drain,
        logFormat,
    ]

    /// Names an invalid option as it was given: on the command line, or in the configuration file.
    static func failure(_ error: ServiceError, _ arguments: Arguments) -> Failure {
        let quoted = error.message.split(separator: "\"", maxSplits: 2, omittingEmptySubsequences: false)
        guard let file = arguments.text(configuration), error.code == .invalidOption, quoted.count == 3 else {
            return Failure(error)
        }
        let option = Command.relay.option(named: LibraryWords.name(of: String(quoted[1])))
        if option.map(arguments.has) == true { return Failure(error) }
        let problem = error.message.replacing("relay options: ", with: "", maxReplacements: 1)
        return Failure(ServiceError(error.code, "\(file): \(problem)"), isTranslated: true)
    }

    /// The configuration file with the command line's options over it, as keys of ``ServiceSettings/init(json:)``.
    static func values(_ arguments: Arguments) throws(Failure) -> JSONObject {
        if arguments.has(certificate) != arguments.has(key) {
            throw Failure(.usage, "--tls-certificate and --tls-key must be given together")
        }
        var values: JSONObject = [
            "listen": listen.initial.map { .string($0) }, "health": health.initial.map { .string($0) },
        ]
        if let path = arguments.text(configuration) {
            do throws(ServiceError) { values.merge(try ServiceSettings.object(file: path)) } catch {
                throw Failure(error)
            }
        }
        for (option, name) in [
            (listen, "listen"), (health, "health"), (stateDirectory, "state_dir"), (tokens, "tokens_file"),
            (allowed, "allowed_ids_file"), (logFormat, "log_format"), (natsCredentials, "nats_credentials"),
            (natsAuthorities, "nats_ca_file"), (node, "node"),
        ] {
            if let text = arguments.text(option) { values[name] = .string(text) }
        }
        for (option, name) in [
            (disk, "max_disk_bytes"), (drain, "drain_ms"), (tickets, "tls_tickets"), (natsReplicas, "nats_replicas"),
        ]
        where arguments.has(option) {
            values[name] = try arguments.integer(option, in: 0...Int.max).map { .integer(Int64($0)) }
        }
        for (option, name) in [(origin, "origins"), (proxy, "trusted_proxies"), (nats, "nats")]
        where arguments.has(option) {
            values[name] = .array(arguments.texts(option).map { .string($0) })
        }
        for (option, name) in [(proxyProtocol, "proxy_protocol"), (reusePort, "reuse_port")] where arguments.has(option)
        {
            values[name] = true
        }
        if arguments.has(noHealth) { values["health"] = .null }
        if let certificate = arguments.text(certificate), let key = arguments.text(key) {
            values["tls"] = ["certificate_file": .string(certificate), "key_file": .string(key)]
        }
        values.merge(try RelayLimits.values(arguments))
        return values
    }
}
