extension Command {
    static let listen = Command(
        name: "listen",
        summary: "Prints pushes from the paired desktops, or runs a command for each.",
        about: [
            """
            Connects to the paired desktops, stays connected, and prints a line for each push: time, priority, source, \
            title, body. It begins with stored pushes that no program has received yet. Ctrl-C stops it.
            """,
            """
            Every program gets each push once, by its name. Two commands that listen at different times share the \
            name bellwire, so each push goes to one of them; give each its own name with --application-id.
            """,
            """
            With --filter it takes only pushes that match: text=WORDS (all of the words occur in title or body, as for \
            bellwire inbox --search), priority=LEVEL, source=pc or mobile, desktop=DESKTOP, category=NAME, \
            thread=NAME. If a key is given several times, one of its values must match; of several keys, each. A filter \
            takes nothing from others: unless --application-id names it, each filter is a program of its own, and gets \
            its own copy of every push from its first run on, also of those sent while it was not running. The others, \
            and a listen without a filter, get all pushes.
            """,
            """
            With --json each line is an event: an object with "event" (notification.received), "desktop" and "data": \
            "id", "title", "body", "priority", "source", "createdAt" and more.
            """,
            """
            With --exec it runs a command for each push instead of printing it, one at a time and in order: CMD with \
            /bin/sh, or after -- a COMMAND with its arguments, without a shell. The command's standard input is the \
            event as --json prints it. Its environment contains BELLWIRE_ID, BELLWIRE_TITLE, BELLWIRE_BODY, \
            BELLWIRE_PRIORITY, BELLWIRE_SOURCE, BELLWIRE_CREATED_AT (milliseconds since 1970), BELLWIRE_DESKTOP (its \
            id), BELLWIRE_DESKTOP_NAME, and BELLWIRE_LATE and BELLWIRE_REDELIVERED (1 or empty). These values come \
            from other machines. Control characters are removed; the body is cut after 65,536 bytes, all other values \
            after 4,096. Put quotes around them, and -- before them if a program takes options. With --json the \
            command's own output goes to standard error, and each exit is reported as the event exec.
            """,
            """
            A push is done when its command has exited, whatever the exit code. Exit codes other than 0 are reported; \
            with --count they make the exit code 1. If bellwire is stopped or crashes while a command runs, that push \
            comes again next time, with BELLWIRE_REDELIVERED=1. So a command may run twice for a push, but no push is \
            missed. Ctrl-C also stops the command. The command runs in its own process group and cannot read from the \
            terminal.
            """,
        ],
        operands: [
            Operand(
                name: "COMMAND", help: "After --: the command to run for each push, with its arguments.", repeats: true)
        ],
        ownOptions: [
            listenFilter, listenCount, listenOnce, listenTimeout, listenAll, listenExec, listenExecTimeout,
            listenApplication,
        ]
            + DeviceSession.options,
        examples: [
            Example(line: "bellwire listen", says: "Prints pushes until Ctrl-C."),
            Example(
                line: "bellwire listen --once --timeout 60 --json",
                says: "Waits up to a minute for one push; exit code 3 if none comes."),
            Example(
                line: "bellwire listen --filter text='build fail*' -- ./wake-me.sh",
                says: "Runs a program for failed builds; others still get every push."),
            Example(
                line: "bellwire listen --exec 'notify-send -- \"$BELLWIRE_TITLE\" \"$BELLWIRE_BODY\"'",
                says: "Shows each push on the screen."),
            Example(
                line: "bellwire listen -- python3 on_push.py --quiet",
                says: "Runs a command without a shell; it reads the JSON on standard input."),
        ],
        run: { arguments throws(Failure) in try ListenRun(arguments).run() })

    static let listenFilter = Option(
        "filter", .required("KEY=VALUE"),
        "Takes only pushes that match, such as priority=urgent. May be given several times.")
    static let listenCount = Option(
        "count", short: "n", .required("N"), "Stops after N pushes; further pushes stay stored for the next time.")
    static let listenOnce = Option("once", "Stops after one push, like --count 1.")
    static let listenTimeout = Option(
        "timeout", .required("SECONDS"),
        "Stops after this time; with --count, exit code 3 if there were too few pushes.")
    static let listenAll = Option("all", "Prints all events, such as connections, pairings and problems.")
    static let listenExec = Option("exec", .required("CMD"), "Runs CMD with /bin/sh for each push.")
    static let listenExecTimeout = Option(
        "exec-timeout", .required("SECONDS"),
        "Kills a command that runs longer, with all processes it started (default: no limit).")
    static let listenApplication = Option(
        "application-id", .required("ID"),
        "Receives pushes under this name, such as org.example.Lamp, also those sent while it was not running.")
}
