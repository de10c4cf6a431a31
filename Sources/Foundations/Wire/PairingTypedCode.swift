/// The code that a user types instead of scanning (WirePairing, "Typed codes").
package enum PairingTypedCode: Sendable, Hashable {
    /// A deployed desktop's: six digits, which the relay sees.
    case plain(PairingCode)
    /// A Bellwire desktop's: the first six digits name its alias, the last six are the password and never leave us.
    case sealed(nameplate: PairingCode, password: PairingCode)

    /// The digits that name the alias.
    package var nameplate: PairingCode {
        switch self {
        case .plain(let code): code
        case .sealed(let nameplate, _): nameplate
        }
    }

    /// Reads what a person typed: `123456`, or `123456-789012`, spaces and dashes wherever they like.
    package init(parsing text: String) throws(PairingFailure) {
        var digits = ""
        // Whoever types more than this does not type a code.
        guard text.utf8.count <= 64 else { throw PairingFailure(.badCode) }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "0"..."9": digits.unicodeScalars.append(scalar)
            // The dashes of keyboards and of texts that were copied.
            case "-", "\u{2010}"..."\u{2015}", "\u{2212}": continue
            case _ where scalar.properties.isWhitespace: continue
            default: throw PairingFailure(.badCode)
            }
        }
        if let code = PairingCode(digits) {
            self = .plain(code)
        } else if digits.utf8.count == 12, let nameplate = PairingCode(String(digits.prefix(6))),
            let password = PairingCode(String(digits.suffix(6)))
        {
            self = .sealed(nameplate: nameplate, password: password)
        } else {
            throw PairingFailure(.badCode)
        }
    }

    /// A new code of a Bellwire desktop.
    package init(using generator: inout some RandomNumberGenerator) {
        self = .sealed(
            nameplate: PairingCode(using: &generator), password: PairingCode(using: &generator))
    }

    /// As it is shown.
    package var text: String {
        switch self {
        case .plain(let code): code.digits
        case .sealed(let nameplate, let password): "\(nameplate.digits)-\(password.digits)"
        }
    }

    /// The peer id at which the desktop of the code listens, on its own connection (WirePairing, "Typed codes").
    package var alias: PeerID { PeerID("pairing-code:\(nameplate.digits)") }
}
