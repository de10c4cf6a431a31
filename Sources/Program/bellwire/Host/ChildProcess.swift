@preconcurrency import Glibc

/// One run of a command of the user's: it gets a text on its standard input, and its end is waited for.
///
/// It leads a process group of its own, so that what it has started can be ended with it.
final class ChildProcess {
    /// How it ended.
    struct Outcome: Equatable {
        /// Its exit code, or 128 and the signal that ended it, as shells have it.
        var code: Int32 = 0
        var isOverTime = false
        /// The signal to stop that this program received in the meantime.
        var interruption: Int32?
    }

    /// After it was asked to end it has so long before it is killed, in milliseconds.
    private static let graceTime: Int64 = 5_000

    private let pid: pid_t
    private var input: Int32
    private var rest: [UInt8]
    private var outcome = Outcome()
    private var killsAt: Int64?

    /// Starts it.
    ///
    /// - Parameters:
    ///   - words: program and arguments; the program is looked for in PATH.
    ///   - environment: beside our own.
    ///   - input: what its standard input says.
    ///   - output: what it has as its standard output: 1 or 2.
    init(_ words: [String], environment: [(String, String)], input text: String, output: Int32) throws(Failure) {
        try ChildSignal.install()
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ChildProcess.failure(words, errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        defer { Glibc.close(ends[0]) }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        if output != 1 { posix_spawn_file_actions_adddup2(&actions, output, 1) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        var arguments = words.map { strdup(Word.terminated($0)) } + [nil]
        var variables = ChildProcess.inherited(without: Set(environment.map(\.0)))
        variables += environment.map { strdup("\($0.0)=\($0.1)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        // A text that could not be copied would end the list there: another command.
        let isWhole = !(arguments.dropLast() + variables.dropLast()).contains { $0 == nil }
        let status =
            isWhole
            ? posix_spawnp(&pid, Word.terminated(words[0]), &actions, &attributes, &arguments, &variables) : ENOMEM
        guard status == 0 else {
            Glibc.close(ends[1])
            throw ChildProcess.failure(words, status)
        }
        self.pid = pid
        input = ends[1]
        rest = Array(text.utf8)
    }

    /// Feeds it and waits for its end. A signal that wants to end us ends it, too.
    ///
    /// - Parameter limit: so long, in milliseconds; then it is ended. `nil` = as long as it wants.
    func wait(limit: Int64?) -> Outcome {
        // It need not read what it is given.
        var ignoring = sigaction()
        var before = sigaction()
        ignoring.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(SIGPIPE, &ignoring, &before)
        defer {
            sigaction(SIGPIPE, &before, nil)
            closeInput()
        }
        let end = limit.map { Clock.now &+ $0 }
        while true {
            var status: Int32 = 0
            endOrphans()
            let found = waitpid(pid, &status, WNOHANG)
            if found == pid || found < 0 && errno != EINTR {
                outcome.code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 &+ (status & 0x7F)
                return outcome
            }
            if let signal = Interrupt.take() {
                outcome.interruption = signal
                ask()
            }
            if let end, Clock.now >= end, !outcome.isOverTime {
                outcome.isOverTime = true
                ask()
            }
            if let moment = killsAt, Clock.now >= moment {
                _ = kill(-pid, SIGKILL)
                killsAt = Int64.max
            }
            sleep(until: [killsAt, outcome.isOverTime ? nil : end].compactMap(\.self).min())
        }
    }

    /// It was asked to end, and has: what it has started and left ends with it, while its number is still its own.
    private func endOrphans() {
        guard killsAt != nil else { return }
        var info = siginfo_t()
        guard waitid(P_PID, id_t(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0, info.si_signo == SIGCHLD else {
            return
        }
        _ = kill(-pid, SIGKILL)
    }

    /// Asks it to end, with all that it has started.
    private func ask() {
        _ = kill(-pid, SIGTERM)
        if killsAt == nil { killsAt = Clock.now &+ ChildProcess.graceTime }
    }

    private func sleep(until moment: Int64?) {
        let descriptors = [ChildSignal.descriptor, Interrupt.descriptor]
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        if input >= 0 { entries.append(pollfd(fd: input, events: Int16(POLLOUT), revents: 0)) }
        let left = moment.map { Int32(clamping: max(0, $0 &- Clock.now)) } ?? -1
        guard poll(&entries, nfds_t(entries.count), left) > 0 else { return }
        ChildSignal.clear()
        if entries.count > 2, entries[2].revents != 0 { feed() }
    }

    private func feed() {
        let count = write(input, rest, rest.count)
        if count >= 0 {
            rest.removeFirst(count)
        } else if errno != EAGAIN, errno != EINTR {
            rest = []
        }
        if rest.isEmpty { closeInput() }
    }

    private func closeInput() {
        if input >= 0 { Glibc.close(input) }
        input = -1
    }

    // MARK: What it starts with

    /// Our own environment, as copies of the C library's, without these.
    private static func inherited(without names: Set<String>) -> [UnsafeMutablePointer<CChar>?] {
        var found: [UnsafeMutablePointer<CChar>?] = []
        var place: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = environ
        while let variable = place?.pointee {
            let name = String(cString: variable).prefix { $0 != "=" }
            if !names.contains(String(name)) { found.append(strdup(variable)) }
            place = place?.advanced(by: 1)
        }
        return found
    }

    private static func failure(_ words: [String], _ code: Int32) -> Failure {
        Failure(.failed, "cannot start \(words[0]): \(String(cString: strerror(code)))")
    }
}
