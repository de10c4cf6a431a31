import COpenSSL
import Glibc

/// Where this machine keeps the authorities that it trusts.
///
/// OpenSSL looks in the paths of the system it was built for. A copy that is bundled with the library, as in a Python
/// wheel, may run on a system with other paths.
package enum SystemAuthorities {
    /// Fedora and Red Hat, the same since their version 7, openSUSE, Alpine (Go keeps this list in
    /// `crypto/x509/root_linux.go`).
    private static let places = [
        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem", "/etc/ssl/certs/ca-certificates.crt",
    ]

    /// The file of certificate authorities for OpenSSL and libcurl; `nil` if OpenSSL finds them by itself, if the
    /// environment names them, or if there are none.
    package static func elsewhere() -> String? {
        for variable in [X509_get_default_cert_file_env(), X509_get_default_cert_dir_env()] {
            if let variable, getenv(variable) != nil { return nil }
        }
        if let file = X509_get_default_cert_file(), access(file, R_OK) == 0 { return nil }
        if let directory = X509_get_default_cert_dir(), hasEntries(directory) { return nil }
        return places.first { access($0, R_OK) == 0 }
    }

    /// Whether a file that the user named can be read on the event loop's thread: a pipe would stop everything until someone
    /// writes to it. A missing file is left to whatever opens it, which says why it can't.
    package static func isReadable(_ file: String) -> Bool {
        var status = stat()
        return stat(file, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }

    private static func hasEntries(_ path: UnsafePointer<CChar>) -> Bool {
        guard let directory = opendir(path) else { return false }
        defer { closedir(directory) }
        // "." and ".." are in each.
        for _ in 0..<2 where readdir(directory) == nil { return false }
        return readdir(directory) != nil
    }
}
