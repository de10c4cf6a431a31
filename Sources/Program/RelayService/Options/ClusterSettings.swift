internal import Cluster
internal import Hosting
internal import NATS
internal import Relay
internal import Transport

/// How a relay finds the others of its cluster.
package struct ClusterSettings: Sendable, Equatable {
    /// `nats://…` and `tls://…`, at least one.
    package var servers: [String]
    package var credentialsFile: String?
    package var caFile: String?
    /// The relay's name in the cluster; `nil` = the host's.
    package var node: String?
    /// Of what the cluster stores, 1 to 5.
    package var replicas: Int

    static let keys: Set<String> = ["nats", "nats_credentials", "nats_ca_file", "nats_replicas", "node"]

    /// `nil` if the options name no server.
    init?(_ options: [String: RelayOption]) throws(RelayError) {
        let servers = try options["nats"]?.texts() ?? []
        guard !servers.isEmpty else {
            for key in Self.keys.sorted() where options[key] != nil && key != "nats" {
                throw RelayError(.invalidOption, "relay options: \"\(key)\" needs \"nats\", the URLs of NATS servers")
            }
            return nil
        }
        for url in servers {
            do throws(NATSError) { _ = try NATSServer(url) } catch {
                throw RelayError(.invalidOption, "relay options: \"nats\": \(error.message)")
            }
        }
        self.servers = servers
        credentialsFile = try options["nats_credentials"]?.path()
        caFile = try options["nats_ca_file"]?.path()
        node = try options["node"]?.text()
        replicas = try options["nats_replicas"]?.number(1...5) ?? 1
        guard node.map({ (1...64).contains($0.utf8.count) }) ?? true else {
            throw RelayError(.invalidOption, "relay options: \"node\" must be a name of 1 to 64 bytes")
        }
    }

    /// Reads the file with the credentials.
    func options() throws(ServiceError) -> ClusterNode.Options {
        do throws(NATSError) {
            let name = node ?? CommonOptions.hostName()
            var connection = NATSConnectionStateMachine.Options(
                servers: try servers.map { url throws(NATSError) in try NATSServer(url) }, name: name)
            if let path = credentialsFile { connection.credentials = try Self.credentials(path) }
            var nats = NATSClient.Options(connection)
            nats.tls = TLSClientOptions(caFile: caFile)
            return ClusterNode.Options(nats: nats, name: name, replicas: replicas)
        } catch {
            throw ServiceError(.invalidFile, error.message)
        }
    }

    private static func credentials(_ path: String) throws(NATSError) -> NATSCredentials {
        let text: String
        do throws(ServiceError) { text = try TextFile.read(path, limit: 1 << 16) } catch {
            throw NATSError(.invalidOption, error.message)
        }
        return try NATSCredentials(parsing: text)
    }
}
