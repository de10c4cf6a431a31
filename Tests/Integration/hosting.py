"""A host of the library, in a process of its own: it reads calls from standard input and writes what came of them, and
all events, to standard output, a JSON object a line. hosts.py starts it.

    hosting.py LIBRARY HEADER device|desktop|relay OPTIONS

A call is {"id", "call": "bw_…", "arguments": […]}: the arguments of the header's prototype, less the handle before them
and the output behind them. Its outcome is {"id", "status", "result"?, "error"?}. Calls run on threads of their own;
callbacks run on the main thread, which dispatches.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import select
import sys
import threading
from pathlib import Path
from typing import Any

EVENT_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
#: bw_authorize_callback gives nothing, which is the same to its caller.
HOOK_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p)
NUMBERS = {"int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64, "size_t": ctypes.c_size_t, "double": ctypes.c_double}


def prototypes(header: str) -> dict[str, list[str]]:
    """The parameter types of each function that the header declares."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    found: dict[str, list[str]] = {}
    for name, parameters in re.findall(r"BW_API\s+[\w ]+?[\s*](bw_\w+)\(([^)]*)\)", text):
        found[name] = [re.sub(r"\s*\w+$", "", part.strip()).replace(" ", "") for part in parameters.split(",")]
    return found


class Host:
    def __init__(self, library: str, header: str, role: str, options: str) -> None:
        self.library = ctypes.CDLL(library)
        self.library.bw_last_error.restype = ctypes.c_void_p
        self.prototypes = prototypes(Path(header).read_text())
        self.role = role
        self.handle = ctypes.c_void_p()
        self.lock = threading.Lock()
        status = getattr(self.library, f"bw_{role}_open")(options.encode(), ctypes.byref(self.handle))
        self.say({"opened": status, **self.failure(status)})
        if status < 0:
            sys.exit(1)
        # Kept: ctypes does not.
        self.callback = EVENT_CALLBACK(self.event)
        self.entry("subscribe")(self.handle, b"*", self.callback, None, None, None)
        #: The pushes in whose callback the process ends, as if it had been killed there.
        self.deadly: set[str] = set()
        #: Questions to the host: what bw_alerts_on_… was given, and what it answers.
        self.hooks: dict[str, Any] = {}
        self.answers: dict[str, int] = {}
        self.pauses = False

    def entry(self, name: str) -> Any:
        return getattr(self.library, f"bw_{self.role}_{name}")

    def say(self, line: dict[str, Any]) -> None:
        with self.lock:
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()

    def failure(self, status: int) -> dict[str, Any]:
        return {"error": json.loads(self.take(self.library.bw_last_error()) or "null")} if status < 0 else {}

    def take(self, pointer: int | None) -> str | None:
        """A text that the library gave us."""
        if not pointer:
            return None
        text = ctypes.cast(pointer, ctypes.c_char_p).value or b""
        self.library.bw_free(ctypes.c_void_p(pointer))
        return text.decode()

    def event(self, _user_data: int, _event: bytes, text: bytes) -> None:
        event = json.loads(text)
        self.say(event)
        if event["event"] == "notification.received" and event["data"]["title"] in self.deadly:
            os._exit(9)

    def call(self, number: int, name: str, arguments: list[Any]) -> None:
        types = self.prototypes[name]
        values: list[Any] = []
        output: Any = None
        left = list(arguments)
        for kind in types:
            if kind == f"bw_{self.role}*":
                values.append(self.handle)
            elif kind == "char**":
                output = ctypes.c_void_p()
                values.append(ctypes.byref(output))
            elif kind == "constchar*":
                value = left.pop(0)
                text = value if value is None or isinstance(value, str) else json.dumps(value)
                values.append(None if text is None else text.encode())
            elif kind == "constuint8_t*":
                # Bytes, as hex; their number is an argument of its own.
                values.append(ctypes.c_char_p(bytes.fromhex(left.pop(0))))
            else:
                values.append(NUMBERS[kind](left.pop(0)))
        status = getattr(self.library, name)(*values)
        outcome: dict[str, Any] = {"id": number, "status": status, **self.failure(status)}
        if status >= 0 and output is not None:
            text = self.take(output.value)
            outcome["result"] = None if text is None else json.loads(text)
        self.say(outcome)

    def hook(self, name: str, answer: int | None) -> None:
        """Answers the questions of bw_alerts_on_<name>; None = nobody does."""
        if answer is not None:
            self.answers[name] = answer

        def ask(_user_data: int, text: bytes) -> int:
            self.say({"asked": name, "question": json.loads(text)})
            return self.answers[name]

        callback = None if answer is None else HOOK_CALLBACK(ask)
        status = getattr(self.library, f"bw_alerts_on_{name}")(self.handle, callback, None, None)
        self.hooks[name] = callback
        self.say({"hooked": name, "status_of_hook": status})

    def run(self) -> None:
        descriptor = self.entry("fd")(self.handle)
        pending = b""
        while True:
            readable, _, _ = select.select([0] if self.pauses else [descriptor, 0], [], [])
            if descriptor in readable:
                self.entry("dispatch")(self.handle)
            if 0 in readable:
                part = os.read(0, 1 << 16)
                if not part:
                    break
                *lines, pending = (pending + part).split(b"\n")
                for line in lines:
                    request = json.loads(line)
                    if "deadly" in request:
                        self.deadly.update(request["deadly"])
                        continue
                    if "hook" in request:
                        self.hook(request["hook"], request["answer"])
                        continue
                    if "pauses" in request:
                        self.pauses = request["pauses"]
                        self.say({"paused": self.pauses})
                        continue
                    if "largest_file" in request:
                        limit = request["largest_file"]
                        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
                        resource.setrlimit(resource.RLIMIT_FSIZE, (hard if limit is None else limit, hard))
                        self.say({"limited": limit})
                        continue
                    arguments = (request["id"], request["call"], request["arguments"])
                    threading.Thread(target=self.call, args=arguments, daemon=True).start()
        self.entry("close")(self.handle)


if __name__ == "__main__":
    Host(*sys.argv[1:]).run()
