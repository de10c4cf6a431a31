import Glibc
import JSON

/// The user's file of defaults for options: `config.json` in `$XDG_CONFIG_HOME/bellwire`.
///
/// It is an object of profiles. `default` always counts; `--profile` or `BELLWIRE_PROFILE` names one that counts before
/// it. A profile's members are options, by their names without dashes, for every command that has them; or commands, with
/// an object of options that count for that command alone. What is on the command line counts before both.
struct Configuration {
    /// The option's name, and its value; `nil` for a switch.
    typealias Default = (option: Option, value: String?)

    private let path: String
    private let profiles: [JSONObject]

    /// Where the file is; `nil` if neither variable is set.
    static var path: String? {
        let home = EnvironmentPath.read("XDG_CONFIG_HOME") ?? EnvironmentPath.read("HOME").map { $0 + "/.config" }
        return home.map { $0 + "/bellwire/config.json" }
    }

    /// - Parameter name: of the profile; `nil` = none beside `default`.
    init(profile name: String?) throws(Failure) {
        path = Configuration.path ?? "bellwire/config.json"
        let name = name ?? Configuration.variable("BELLWIRE_PROFILE")
        guard Configuration.path != nil, access(path, F_OK) == 0 else {
            if let name { throw Failure(.usage, "no profile \"\(name)\": \(path) does not exist") }
            profiles = []
            return
        }
        var status = stat()
        guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.usage, "\(path) is not a regular file")
        }
        let all: JSONObject
        let text = try LineInput.contents(ofFile: path)
        do throws(JSONError) {
            guard let object = try JSONValue(parsing: text).object else {
                throw JSONError(.syntax, "not a JSON object")
            }
            all = object
        } catch {
            throw Failure(.usage, "\(path): \(error.message)")
        }
        var profiles: [JSONObject] = []
        for wanted in [name, "default"].compactMap(\.self) {
            switch all[wanted] {
            case .some(let value):
                guard let profile = value.object else {
                    throw Failure(.usage, "\(path): the profile \"\(wanted)\" is not an object")
                }
                profiles.append(profile)
            case .none where wanted == name: throw Failure(.usage, "no profile \"\(wanted)\" in \(path)")
            case .none: break
            }
        }
        self.profiles = profiles
    }

    /// What counts for a command, the most important first.
    func defaults(for command: Command) throws(Failure) -> [Default] {
        // Also what is switched off: it counts before what comes later.
        var found: [(default: Default, isOn: Bool)] = []
        for profile in profiles {
            for member in profile[command.name]?.object?.members ?? [] {
                guard let option = command.option(named: member.key) else {
                    throw Failure(.usage, "\(path): \(command.name) has no option \"\(member.key)\"")
                }
                try add(option, member.value, to: &found)
            }
            for member in profile.members {
                if member.value.object != nil {
                    guard Bellwire.commands.contains(where: { $0.name == member.key }) else {
                        throw Failure(.usage, "\(path): there is no command \"\(member.key)\"")
                    }
                } else if let option = command.option(named: member.key) {
                    try add(option, member.value, to: &found)
                } else if !Bellwire.commands.contains(where: { $0.option(named: member.key) != nil }) {
                    throw Failure(.usage, "\(path): no command has an option \"\(member.key)\"")
                }
            }
        }
        return found.filter(\.isOn).map(\.default)
    }

    private func add(
        _ option: Option, _ value: JSONValue, to found: inout [(default: Default, isOn: Bool)]
    ) throws(Failure) {
        if found.contains(where: { $0.default.option.name == option.name }) { return }
        let text = value.string ?? Configuration.number(value)
        switch option.value {
        case .none:
            guard let isOn = value.bool else {
                throw Failure(.usage, "\(path): \"\(option.name)\" must be true or false")
            }
            found.append(((option, nil), isOn))
        case .optional:
            found.append(((option, text), value.bool != false))
        case .required:
            guard let text else { throw Failure(.usage, "\(path): \"\(option.name)\" must be a string or a number") }
            guard option.choices.isEmpty || option.choices.contains(text) else {
                let choices = option.choices.joined(separator: ", ")
                throw Failure(.usage, "\(path): \"\(option.name)\": \"\(text)\" must be one of \(choices)")
            }
            found.append(((option, text), true))
        }
    }

    private static func number(_ value: JSONValue) -> String? {
        switch value {
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .null, .bool, .string, .array, .object: nil
        }
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
        return value
    }
}
