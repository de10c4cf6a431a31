#if DEBUG
    import Foundation
    import Testing
    package import Transport

    /// Certificates made by the `openssl` command when a test first asks for them.
    package struct TestCertificates: Sendable {
        private static let shared = Result { try TestCertificates() }

        /// Makes them away from the loop, which must not wait for a process.
        @concurrent
        package static func get() async throws -> TestCertificates { try shared.get() }

        private let directory: URL

        package var authority: String { path("ca.pem") }
        package var otherAuthority: String { path("other.pem") }

        /// For `localhost`, `*.wild.example`, 127.0.0.1 and ::1.
        package var good: TLSServerOptions { .init(certificateFile: path("good.pem"), keyFile: path("good.key")) }
        /// For `elsewhere.example` only.
        package var elsewhere: TLSServerOptions {
            .init(certificateFile: path("elsewhere.pem"), keyFile: path("elsewhere.key"))
        }
        package var expired: TLSServerOptions {
            .init(certificateFile: path("expired.pem"), keyFile: path("expired.key"))
        }

        /// Its subject is `localhost`, but it has no list of names.
        package var nameless: TLSServerOptions {
            .init(certificateFile: path("nameless.pem"), keyFile: path("nameless.key"))
        }

        package func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

        private init() throws {
            directory = FileManager.default.temporaryDirectory.appendingPathComponent("bellwire-tls-\(getpid())")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            for authority in ["ca", "other"] {
                try run(
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                    "-subj", "/CN=Test \(authority)", "-keyout", "\(authority).key", "-out", "\(authority).pem")
            }
            try issue("nameless", subject: "localhost", extensions: "basicConstraints=CA:FALSE", days: "30")
            try issue("good", "DNS:localhost,DNS:*.wild.example,IP:127.0.0.1,IP:::1", days: "30")
            try issue("elsewhere", "DNS:elsewhere.example", days: "30")
            try issue("expired", "DNS:localhost,IP:127.0.0.1", days: "-1")
            try run(
                "rsa", "-in", "good.key", "-aes128", "-passout", "pass:secret", "-out", "locked.key",
                orElse: [
                    "ec", "-in", "good.key", "-aes128", "-passout", "pass:secret", "-out", "locked.key",
                ])
        }

        private func issue(_ name: String, _ names: String, days: String) throws {
            try issue(name, subject: name, extensions: "subjectAltName=\(names)", days: days)
        }

        private func issue(_ name: String, subject: String, extensions: String, days: String) throws {
            try run(
                "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(subject)",
                "-keyout", "\(name).key", "-out", "\(name).csr")
            try "\(extensions)\n".write(toFile: path("\(name).ext"), atomically: true, encoding: .utf8)
            try run(
                "x509", "-req", "-in", "\(name).csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days",
                days,
                "-extfile", "\(name).ext", "-out", "\(name).pem")
        }

        private func run(_ arguments: String..., orElse others: [String]? = nil) throws {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["openssl"] + arguments
            process.currentDirectoryURL = directory
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            guard process.terminationStatus != 0 else { return }
            guard let others else {
                throw TransportError(.system, "openssl \(arguments.joined(separator: " ")) failed")
            }
            let second = Process()
            second.executableURL = process.executableURL
            second.arguments = ["openssl"] + others
            second.currentDirectoryURL = directory
            second.standardError = FileHandle.nullDevice
            try second.run()
            second.waitUntilExit()
            try #require(second.terminationStatus == 0)
        }
    }
#endif
