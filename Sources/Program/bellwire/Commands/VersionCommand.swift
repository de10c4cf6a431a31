import CBellwire
import JSON

extension Command {
    static let version = Command(
        name: "version",
        summary: "Prints the version.",
        about: [
            """
            Prints the version of the program and the library. With --json, an object with "version" and "abi", the \
            number of the C interface.
            """
        ],
        operands: [],
        ownOptions: [],
        examples: [Example(line: "bellwire version", says: "The same as bellwire --version.")],
        run: { arguments in
            if arguments.has(.json) {
                Output.json([
                    "version": .string(String(cString: bw_version())), "abi": .integer(Int64(bw_abi_version())),
                ])
            } else {
                Output.line("bellwire \(String(cString: bw_version()))")
            }
            return .done
        })
}
