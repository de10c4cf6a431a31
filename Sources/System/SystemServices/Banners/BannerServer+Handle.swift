extension BannerServer {
    /// A banner that was shown; can be kept as text. It is good for as long as the server that showed it lives: after
    /// that nothing is done with it.
    package struct Handle: Hashable, Sendable {
        enum Target: Hashable, Sendable {
            /// A number that `org.freedesktop.Notifications` gave; `life` is the bus and the server's name on it.
            case number(UInt32, life: String)
            /// Our own id at `org.gtk.Notifications`, encoded; known to every life of such a server.
            case id(String)
        }

        let target: Target

        init(_ target: Target) { self.target = target }

        /// Reads ``text``; `nil` for anything else.
        package init?(_ text: String) {
            let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
            guard text.utf8.count <= 4_096, let kind = parts.first, let second = parts.dropFirst().first else {
                return nil
            }
            switch (kind, parts.count) {
            case ("number", 3):
                guard let number = UInt32(second), number > 0, "\(number)" == second, let life = parts.last,
                    !life.isEmpty
                else { return nil }
                target = .number(number, life: String(life))
            case ("id", 2):
                guard !second.isEmpty, PercentEncoding.decode(String(second)) != nil else { return nil }
                target = .id(String(second))
            case (_, _): return nil
            }
        }

        /// Whether its server has ended. `present` is the life of the running server; `nil` = no server runs.
        package func isLost(exceptIn present: String?) -> Bool {
            if case .number(_, let life) = target { life != present } else { false }
        }

        package var text: String {
            switch target {
            case .number(let number, let life): "number/\(number)/\(life)"
            case .id(let id): "id/\(id)"
            }
        }
    }
}
