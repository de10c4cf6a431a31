/// Stored frames that outlive the process.
extension RelayStateMachine {
    /// What has changed in the store since the last call. Call it after each event: it names peers by what they are now.
    mutating func takeArchiveChanges() -> [ArchiveChange] {
        absent.takeChanges().map { change in
            switch change {
            case .gone(let sequence): .gone(sequence)
            case .kept(let frame, let peer):
                .kept(
                    ArchivedFrame(
                        sequence: frame.sequence, peer: peers.name(of: peer), source: name(of: frame.source),
                        storedAt: frame.storedAt.epoch, isSealed: frame.isSealed, bytes: frame.bytes))
            }
        }
    }

    private func name(of source: AbsentStore.Source) -> ArchivedFrame.Source {
        switch source {
        case .network(let number): .network(networks.name(of: number) ?? "")
        case .proved(let peer): peers.contains(peer) ? .proved(peers.name(of: peer)) : .network("")
        }
    }

    /// Stores again what an earlier process had stored, in that order. Call it first. Changes are told from here on.
    ///
    /// What the limits no longer permit goes, by their rules.
    mutating func restore(_ frames: [ArchivedFrame], at moment: Moment) {
        absent.startTelling()
        for frame in frames {
            let peer = frame.peer.withUnsafeBytes { peers.findOrInsert($0, at: moment) }
            // A clock that was set back makes nothing older. A time far before 1970 is not one of ours: too old.
            let (age, isAbsurd) = moment.epoch.subtractingReportingOverflow(frame.storedAt)
            let milliseconds = isAbsurd && frame.storedAt < 0 ? UInt64(Int64.max) : UInt64(max(0, age))
            let storedAt = Moment(monotonic: moment.monotonic &- milliseconds, epoch: frame.storedAt)
            let source: AbsentStore.Source
            switch frame.source {
            case .network(let name):
                let number = networks.came(from: name)
                source = .network(number)
                absent.restore(frame.bytes, frame.sequence, for: peer, from: source, frame.isSealed, at: storedAt)
                networks.left(number, isCounted: absent.holds(number))
            case .proved(let name):
                let sender = name.withUnsafeBytes { peers.findOrInsert($0, at: moment) }
                // Else nothing would ever forget the sender.
                _ = acquaintances.meet(sender, peer, from: nil)
                source = .proved(sender)
                absent.restore(frame.bytes, frame.sequence, for: peer, from: source, frame.isSealed, at: storedAt)
                forgetIfIdle(sender)
            }
            forgetIfIdle(peer)
        }
    }
}
