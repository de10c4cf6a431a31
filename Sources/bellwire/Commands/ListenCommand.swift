extension Command {
    static let listen = Command(
        name: "listen",
        summary: "Prints what the paired desktops push, or runs a command for it, as it comes.",
        about: [
            """
            Connects to the paired desktops, stays connected, and prints a line for each push: time, priority, source, \
            title, body. What came in while nobody listened, and is in the store, comes first. Ctrl-C ends it.
            """,
            """
            With --json each line is an event, an object with "event" (notification.received), "desktop" and "data": \
            "id", "title", "body", "priority", "source", "createdAt" and more.
            """,
            """
            With --exec it runs a command for each push instead of printing it, one after the other, in their order: \
            CMD by /bin/sh, or after -- a COMMAND with its arguments, without a shell. Its standard input is the event \
            as --json prints it. Its environment has BELLWIRE_ID, _TITLE, _BODY, _PRIORITY, _SOURCE, _CREATED_AT \
            (milliseconds since 1970), _DESKTOP (its id), _DESKTOP_NAME, and as 1 or empty _LATE and _REDELIVERED. What \
            others wrote stands in them as data, without control characters, and cut after 65,536 bytes: put quotes \
            around them, and -- before them where a program takes options. With --json the command's own output goes to \
            standard error, and its end is told as the event exec.
            """,
            """
            A push is taken when its command has ended, whatever its exit code; other codes than 0 are said, and with \
            --count they make the exit code 1. When bellwire is ended or dies meanwhile, that one push comes again the \
            next time; BELLWIRE_REDELIVERED=1 says that it may have been seen before. So a command may see a push twice, \
            and misses none. Ctrl-C ends the \
            command as well. The command leads a process group of its own and cannot read from the terminal.
            """,
        ],
        operands: [
            Operand(name: "COMMAND", help: "After --: what to run for each push, with its arguments.", repeats: true)
        ],
        ownOptions: [listenCount, listenOnce, listenTimeout, listenAll, listenExec, listenExecTimeout]
            + DeviceSession.options,
        examples: [
            Example(line: "bellwire listen", says: "Prints pushes until Ctrl-C."),
            Example(
                line: "bellwire listen --once --timeout 60 --json",
                says: "Waits a minute for one push; exit code 3 if none comes."),
            Example(
                line: "bellwire listen --exec 'notify-send -- \"$BELLWIRE_TITLE\" \"$BELLWIRE_BODY\"'",
                says: "Shows each push on the screen."),
            Example(
                line: "bellwire listen -- python3 on_push.py --quiet",
                says: "Without a shell; the JSON is on its input."),
        ],
        run: { arguments throws(Failure) in try ListenRun(arguments).run() })

    static let listenCount = Option(
        "count", short: "n", .required("N"), "Ends after N pushes; those that wait behind them stay for the next time.")
    static let listenOnce = Option("once", "Ends after one push, as --count 1.")
    static let listenTimeout = Option(
        "timeout", .required("SECONDS"), "Ends after so long; with --count, too few pushes by then are exit code 3.")
    static let listenAll = Option("all", "Every event: also connections, pairings, unread counts, problems.")
    static let listenExec = Option("exec", .required("CMD"), "Runs CMD by /bin/sh for each push.")
    static let listenExecTimeout = Option(
        "exec-timeout", .required("SECONDS"),
        "Ends a command that takes longer, with all that it has started (default: it has all the time).")
}
