import Door
import Glibc
import JSON

extension Command {
    static let token = Command(
        name: "token",
        summary: "Creates, lists and revokes tokens for publishing over HTTP.",
        about: [
            """
            With NAME it creates a token and prints it. It is not shown again: only its hash is stored. The token \
            allows publishing through bellwire desktop --http, to all devices or to the group of --group, and nothing \
            else. Without NAME it lists the tokens. Changes apply to a running desktop from the next request on.
            """
        ],
        operands: [Operand(name: "NAME", help: "What the token is for, 1 to 64 bytes.")],
        ownOptions: [tokenGroup, tokenRate, tokenBytes, tokenRevoke, .desktopStateDirectory],
        examples: [
            Example(line: "bellwire token backups", says: "Prints a new token."),
            Example(
                line: "curl -H \"Authorization: Bearer $TOKEN\" -d Done localhost:8080/backups",
                says: "Publishes with it."),
            Example(line: "bellwire token --revoke backups", says: "Revokes the token."),
        ],
        run: { arguments throws(Failure) in try runToken(arguments) })

    static let tokenGroup = Option("group", .required("GROUP"), "The token may publish to this group of devices only.")
    static let tokenRate = Option(
        "per-minute", .required("N"), "Maximum requests per minute, also as a burst; 0 = no limit.", initial: "300")
    static let tokenBytes = Option(
        "max-bytes", .required("BYTES"),
        "Maximum size of a request's body, 1 to 262144. With 262144, texts may have 16 MiB.", initial: "262144")
    static let tokenRevoke = Option("revoke", .required("NAME"), "Revokes the token with this name.")

    private static func runToken(_ arguments: Arguments) throws(Failure) -> Exit {
        guard let directory = try DesktopDirectory.path(arguments) else {
            throw Failure(.usage, "--state-dir :memory: has no tokens")
        }
        let file = TokenFile(directory: directory)
        guard arguments.operands.isEmpty || !arguments.has(tokenRevoke) else {
            throw Failure(.usage, "--revoke takes no NAME (see bellwire token --help)")
        }
        do throws(TokenFile.Failure) {
            if let name = arguments.text(tokenRevoke) {
                let revoked = try file.change { (tokens) throws(TokenFile.Failure) -> DoorToken? in
                    defer { tokens.removeAll { $0.name == name } }
                    return tokens.first { $0.name == name }
                }
                guard let revoked else { return fail(.notPaired, "no such token (see bellwire token)", arguments) }
                if arguments.has(.json) {
                    Output.json(revoked.json(withDigest: false))
                } else {
                    Output.line("Revoked \(Printable.line(name)).")
                }
            } else if let name = arguments.operands.first {
                return try make(name, file, arguments)
            } else {
                list(try file.tokens(), arguments)
            }
            return .done
        } catch {
            throw Failure(.failed, LibraryWords.text(error.message))
        }
    }

    private static func fail(_ exit: Exit, _ message: String, _ arguments: Arguments) -> Exit {
        Output.failure(Failure(exit, message), json: arguments.has(.json))
        return exit
    }

    private static func make(_ name: String, _ file: TokenFile, _ arguments: Arguments) throws(TokenFile.Failure)
        -> Exit
    {
        guard 1...DoorToken.nameLimit ~= name.utf8.count, Printable.line(name) == name else {
            return fail(.usage, "a token's name must have 1 to 64 bytes and no control characters", arguments)
        }
        let (rate, bytes): (Int?, Int?)
        do throws(Failure) {
            rate = try arguments.integer(tokenRate, in: 0...1_000_000)
            bytes = try arguments.integer(tokenBytes, in: 1...DoorToken.byteLimit)
        } catch {
            return fail(error.exit, error.message, arguments)
        }
        let secret = DoorToken.fresh()
        let token = DoorToken(
            name: name, token: secret, group: arguments.text(tokenGroup), createdAt: WallClock.milliseconds,
            perMinute: Int64(rate ?? 0), maximumBytes: bytes ?? DoorToken.byteLimit)
        let isNew = try file.change { (tokens) throws(TokenFile.Failure) -> Bool in
            guard !tokens.contains(where: { $0.name == name }) else { return false }
            tokens.append(token)
            return true
        }
        guard isNew else { return fail(.failed, "a token with this name exists; revoke it first", arguments) }
        if arguments.has(.json) {
            var object = token.json(withDigest: false).object ?? [:]
            object["token"] = .string(secret)
            Output.json(.object(object))
        } else {
            Output.line(secret)
        }
        return .done
    }

    private static func list(_ tokens: [DoorToken], _ arguments: Arguments) {
        if arguments.has(.json) { return Output.json("tokens", tokens.map { $0.json(withDigest: false) }) }
        if tokens.isEmpty { return Output.notice("there are no tokens; bellwire token NAME creates one") }
        for token in tokens {
            let group = token.group.map { "group \(Printable.line($0))" } ?? "all devices"
            Output.line(
                "\(Printable.padded(Printable.line(token.name), to: 20)) \(group), "
                    + "since \(Clock.text(ofEpochMilliseconds: token.createdAt))")
        }
    }
}
