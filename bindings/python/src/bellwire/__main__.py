"""``python -m bellwire listen|pair|send|history``: a device on the command line."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import os
import sys
import termios
import unicodedata
from collections.abc import Coroutine
from datetime import datetime
from pathlib import Path
from typing import Any

from . import (
    BellwireError,
    Device,
    LibraryError,
    NotFoundError,
    Offer,
    PairedDesktop,
    PairingError,
    Priority,
    log_to,
    qr,
    version,
)
from ._handle import TIMEOUT
from ._options import add_push_fields, positive, push_fields
from ._signatures import LogLevel, Status
from ._wire import decode, to_json

DONE, FAILED, USAGE, OFFLINE, UNPAIRED, IN_USE, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

EXIT_CODES = """\
exit codes:
  0    Success.
  1    Refused or failed; standard error says why.
  2    Usage error: unknown option or invalid value.
  3    Offline, or no answer in time.
  4    No such paired desktop.
  5    In use: another process uses the state directory.
  130  Interrupted (Ctrl-C).
"""

_OF_STATUS = {
    Status.E_INVALID: USAGE,
    Status.E_OFFLINE: OFFLINE,
    Status.E_TIMEOUT: OFFLINE,
    Status.E_NOT_FOUND: UNPAIRED,
    Status.E_BUSY: IN_USE,
}

#: Reasons for a failed pairing that mean that the other side did not answer.
_ABSENT = ("relay_unreachable", "desktop_offline", "no_relay", "timeout")
#: Reasons that mean that the text is not a code.
_MALFORMED = ("not_json", "wrong_type", "bad_code", "missing_peer_id", "bad_field")


class Failed(Exception):
    """Ends the program with a line and a code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def visible(text: str) -> str:
    """Text from a peer, on one line and without control, bidi and other characters that a terminal would interpret."""
    return "".join(
        " " if character.isspace() else "\ufffd" if unicodedata.category(character)[0] == "C" else character
        for character in text
    )


def emit(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False), flush=True)


def local(moment: datetime) -> str:
    try:
        return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError):
        return moment.strftime("%Y-%m-%d %H:%M:%S")


def line(created_at: datetime, priority: Priority, source: str, title: str, body: str) -> str:
    said = f"{local(created_at)}  {visible(priority):<6}  {visible(source):<6}  {visible(title)}"
    return f"{said}: {visible(body)}" if body else said


async def listen(device: Device, arguments: argparse.Namespace) -> int:
    if not device.desktops():
        raise unpaired()
    count = 0
    loop = asyncio.get_running_loop()
    end = None if arguments.timeout is None else loop.time() + arguments.timeout
    stream = device.apushes()
    while arguments.count is None or count < arguments.count:
        left = None if end is None else end - loop.time()
        if left is not None and left <= 0:
            break
        if not await stream.arrives(left):
            break
        push = await stream.__anext__()
        count += 1
        if arguments.json:
            data = {key: value for key, value in push.raw.items() if key != "desktop"}
            emit({"event": "notification.received", "desktop": push.desktop, "data": data})
        else:
            print(line(push.created_at, push.priority, push.source, push.title, push.body), flush=True)
    await stream.aclose()
    return OFFLINE if arguments.count is not None and count < arguments.count else DONE


async def pair(device: Device, arguments: argparse.Namespace) -> int:
    if arguments.show:
        desktop = await show(device, arguments)
    elif arguments.code is not None:
        desktop = await device.atype_code(arguments.code, timeout=arguments.timeout)
    else:
        text = read_operand(arguments.text)
        desktop = await device.ascan(text, timeout=arguments.timeout)
    if arguments.json:
        emit(to_json(desktop))
        return DONE
    encryption = "end-to-end encrypted" if desktop.secure else "NOT encrypted: the relay can read all messages"
    print(f"Paired with {visible(desktop.name)} ({encryption}).")
    if desktop.sas is not None:
        print(f"Compare on both sides: {desktop.sas.digits}, {' '.join(desktop.sas.words)}")
    elif desktop.sas_missing is not None:
        print("There are no digits to compare: the desktop doesn't support them. Update it and pair again.")
    if not desktop.secure:
        await warn_of_forgery(device, desktop)
    return DONE


async def warn_of_forgery(device: Device, desktop: PairedDesktop) -> None:
    """The library usually detects a relay that lets anyone forge senders within a round trip after registering."""
    loop = asyncio.get_running_loop()
    end = loop.time() + 1
    while loop.time() < end:
        routes = [route for entry in device.state().connection if entry.desktop == desktop.id for route in entry.routes]
        if all(route.forgeable is not None for route in routes if route.state == "online"):
            break
        await asyncio.sleep(0.1)
    if any(entry.id == desktop.id and entry.forgeable for entry in device.desktops()):
        notice(
            f"a relay lets anyone who knows both ids send in the name of {visible(desktop.name)}; "
            "pair over another relay"
        )


class Question:
    """Asks the user whether to accept a desktop that can't prove that it saw the code, if there is a terminal."""

    def __init__(self, device: Device, *, accepts_all: bool) -> None:
        self._device = device
        self._accepts_all = accepts_all
        self._name: str | None = None

    def ask(self, desktop: PairedDesktop) -> None:
        self._name = visible(desktop.name)
        if self._accepts_all:
            return self._decide(True)
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            notice(
                f"{self._name}: it can't prove that it saw the code, and there is no terminal to ask on; "
                "use --accept to accept such desktops"
            )
            return self._decide(False)
        # What was typed before the question answers nothing.
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
        self._prompt()
        asyncio.get_running_loop().add_reader(sys.stdin, self._answered)

    def withdraw(self, *, is_expired: bool) -> None:
        """Without effect if nothing was asked."""
        if self._name is None:
            return
        asyncio.get_running_loop().remove_reader(sys.stdin)
        if is_expired:
            notice(f"refused {self._name}: no answer; the code stays valid")
        self._name = None

    def _prompt(self) -> None:
        notice(f"{self._name} wants to pair. It can't prove that it saw the code. Accept? y or n, within 30 s:")

    def _answered(self) -> None:
        answer = sys.stdin.readline().strip().lower()
        if answer in ("y", "yes"):
            self._decide(True)
        elif answer in ("n", "no", ""):
            self._decide(False)
        else:
            self._prompt()

    def _decide(self, accept: bool) -> None:
        asyncio.get_running_loop().remove_reader(sys.stdin)
        name, self._name = self._name, None
        # If it is too late, pairing.changed says so.
        with contextlib.suppress(NotFoundError):
            self._device.confirm(accept, "show")
            if not accept:
                notice(f"refused {name}")


async def show(device: Device, arguments: argparse.Namespace) -> PairedDesktop:
    """Shows a code, and waits until a desktop has scanned it."""
    stream = device.aevents("pairing.changed")
    stream.listen()
    offer: Offer = await device.ashow(timeout=arguments.timeout)
    if arguments.json:
        emit({"event": "offer", "data": to_json(offer)})
    else:
        print(qr.terminal(offer.payload, plain=not sys.stdout.isatty()))
        print(f"Scan this on the desktop, before {local(offer.expires_at)}. Its text:\n{offer.payload}", flush=True)
    question = Question(device, accepts_all=arguments.accept)
    async for event in stream:
        if event.data.get("flow") != "show":
            continue
        question.withdraw(is_expired=event.data.get("state") == "displaying")
        if event.data.get("state") == "confirming":
            question.ask(decode(PairedDesktop, event.data.get("desktop")))
        if event.data.get("state") == "completed":
            await stream.aclose()
            # One that was paired before is not the last of the list.
            return decode(PairedDesktop, event.data.get("desktop"))
        if event.data.get("state") in ("expired", "failed"):
            reason = event.data.get("message") or event.data.get("reason") or event.data["state"]
            raise Failed(FAILED, f"pairing failed: {reason}")
    raise Failed(FAILED, "the device was closed")


async def send(device: Device, arguments: argparse.Namespace) -> int:
    if arguments.group is not None and not arguments.broadcast:
        raise Failed(USAGE, "--group needs --broadcast")
    if arguments.icon is not None and arguments.broadcast:
        raise Failed(USAGE, "--icon is for notifications that the desktop shows; --broadcast only pushes")
    fields = push_fields(arguments)
    body = sys.stdin.read().rstrip("\n") if arguments.body == "-" else arguments.body
    desktop = chosen(device, arguments.to)
    end = asyncio.get_running_loop().time() + arguments.timeout
    await device.await_online(desktop, timeout=arguments.timeout)
    left = max(0.001, end - asyncio.get_running_loop().time())
    if arguments.broadcast:
        broadcast = await device.abroadcast(
            arguments.title, body, group=arguments.group, desktop=desktop, timeout=left, **fields
        )
        success, error, result = broadcast.success, broadcast.error, to_json(broadcast)
    else:
        sent = await device.asend(
            arguments.title,
            body,
            icon=arguments.icon,
            desktop=desktop,
            timeout=left,
            **fields,
        )
        success, error, result = sent.success, sent.error, to_json(sent)
    if arguments.json:
        emit(result)
    if not success:
        raise Failed(FAILED, f"the desktop refused: {visible(error or 'no reason given')}")
    return DONE


async def history(device: Device, arguments: argparse.Namespace) -> int:
    desktop = chosen(device, arguments.to)
    end = asyncio.get_running_loop().time() + arguments.timeout
    await device.await_online(desktop, timeout=arguments.timeout)
    page = await device.ahistory(
        limit=arguments.limit,
        offset=arguments.offset,
        unread_only=arguments.unread,
        query=arguments.search,
        desktop=desktop,
        timeout=max(0.001, end - asyncio.get_running_loop().time()),
    )
    if arguments.json:
        rows = [dict(each.raw) for each in page.notifications]
        emit({"notifications": rows, "total": page.total, "unreadCount": page.unread_count})
        return DONE
    for each in page.notifications:
        mark = " " if each.read else "*"
        print(f"{mark} {line(each.created_at, each.priority, each.source, each.title, each.body)}")
    return DONE


def read_operand(text: str | None) -> str:
    """Returns the text of a code: the argument itself, the content of @FILE, or standard input."""
    try:
        if text is None or text == "-":
            return sys.stdin.read().strip()
        if text.startswith("@"):
            return Path(text[1:]).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Failed(USAGE, f"cannot read the code: {error}") from None
    return text


def unpaired() -> Failed:
    return Failed(UNPAIRED, "this device is not paired; run python -m bellwire pair")


def chosen(device: Device, wanted: str | None) -> str | None:
    """Returns the id of the desktop with this name, id or beginning of an id."""
    desktops = device.desktops()
    if not desktops:
        raise unpaired()
    if wanted is None:
        if len(desktops) > 1:
            names = ", ".join(visible(each.name) for each in desktops)
            raise Failed(UNPAIRED, f"several desktops are paired; choose one with --to: {names}")
        return desktops[0].id
    exact = [each.id for each in desktops if wanted in (each.id, each.name)]
    found = exact or [each.id for each in desktops if each.id.startswith(wanted)]
    if len(found) != 1:
        raise Failed(UNPAIRED, "no such desktop is paired" if not found else "--to matches several desktops")
    return found[0]


def parser() -> argparse.ArgumentParser:
    shape = argparse.RawDescriptionHelpFormatter
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--state-dir", metavar="DIR", help="directory for keys and database; :memory: stores nothing")
    common.add_argument("--ca-file", metavar="FILE", help="PEM certificates to trust instead of the system's")
    common.add_argument("--json", action="store_true", help="prints one JSON object per line, errors included")
    common.add_argument("-v", "--verbose", action="store_true", help="prints the library's log to standard error")
    aimed = argparse.ArgumentParser(add_help=False)
    aimed.add_argument("--to", metavar="DESKTOP", help="the desktop's name, its id or the beginning of its id")
    waiting = positive(float, 0.001, 600)
    said = f"seconds to wait for the connection and the answer; default: {TIMEOUT:g}"
    aimed.add_argument("--timeout", type=waiting, default=TIMEOUT, metavar="SECONDS", help=said)

    top = argparse.ArgumentParser(
        prog="python -m bellwire", description="A device on the command line.", epilog=EXIT_CODES, formatter_class=shape
    )
    top.add_argument("--version", action="store_true", help="the library's version")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")

    def command(name: str, run: Any, text: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name, help=text, description=text, epilog=EXIT_CODES, formatter_class=shape, parents=[*parents, common]
        )
        made.set_defaults(run=run)
        return made

    each = command("listen", listen, "Prints pushes from the paired desktops.")
    each.add_argument("-n", "--count", type=positive(int, 1, 2**31), metavar="N", help="stops after N pushes")
    each.add_argument("--timeout", type=positive(float, 0, 1e9), metavar="SECONDS", help="stops after this time")

    each = command("pair", pair, "Pairs with a desktop, by QR code or by digits.")
    way = each.add_mutually_exclusive_group()
    way.add_argument("text", nargs="?", metavar="TEXT", help="the QR code's text, or @FILE; - reads standard input")
    way.add_argument("--show", action="store_true", help="shows a code for the desktop to scan")
    way.add_argument("--code", metavar="DIGITS", help="the twelve digits that the desktop shows")
    each.add_argument("--relay-url", metavar="URL", help="the relay to use")
    each.add_argument("--name", help="the name that the other side sees; default: the host name")
    each.add_argument(
        "--legacy", choices=("qr", "all", "none"), help="which desktops may pair unencrypted; default: qr"
    )
    each.add_argument(
        "--accept",
        action="store_true",
        help="with --show: also accepts a desktop that can't prove that it saw the code",
    )
    each.add_argument("--timeout", type=waiting, default=60.0, metavar="SECONDS", help="seconds to wait; default: 60")

    each = command("send", send, "Shows a notification on the paired desktop.", aimed)
    each.add_argument("title", metavar="TITLE")
    each.add_argument("body", metavar="BODY", nargs="?", default="", help="- reads it from standard input")
    each.add_argument("--priority", choices=[each.value for each in Priority])
    each.add_argument("--icon", metavar="NAME")
    each.add_argument("--ignore-quiet-hours", action="store_true", help="shows it even during quiet hours")
    each.add_argument("--broadcast", action="store_true", help="pushes to all devices of the desktop instead")
    each.add_argument("--group", metavar="GROUP", help="with --broadcast: only to this group of devices")
    add_push_fields(each)

    each = command("history", history, "Shows the desktop's past notifications, newest first.", aimed)
    each.add_argument("-n", "--limit", type=positive(int, 1, 500), default=50, metavar="N", help="default: 50")
    each.add_argument("--offset", type=positive(int, 0, 2**31), default=0, metavar="N")
    each.add_argument("--unread", action="store_true", help="only unread notifications")
    each.add_argument("--search", metavar="WORDS", help="only those with all these words; buil* matches a prefix")
    return top


async def carry_out(arguments: argparse.Namespace) -> int:
    device = Device(
        state_dir=arguments.state_dir,
        ca_file=arguments.ca_file,
        relay_url=getattr(arguments, "relay_url", None),
        name=getattr(arguments, "name", None),
        legacy=getattr(arguments, "legacy", None),
    )
    with device:
        command: Coroutine[Any, Any, int] = arguments.run(device, arguments)
        return await command


def notice(message: str) -> None:
    print(f"bellwire: {message}", file=sys.stderr, flush=True)


def complain(arguments: argparse.Namespace, code: int, message: str, error: BellwireError | None = None) -> int:
    """Says why the program ends, as ``bellwire`` does."""
    if getattr(arguments, "json", False):
        what: dict[str, Any] = {"message": message}
        if error is not None:
            what.update(status=status_name(error), detail=dict(error.detail))
        print(json.dumps({"error": what, "exit": code}, ensure_ascii=False), file=sys.stderr)
    else:
        print(f"bellwire: {visible(message)}", file=sys.stderr)
    return code


def status_name(error: BellwireError) -> str:
    return f"BW_{error.status.name}" if isinstance(error.status, Status) else str(error.status)


def exit_code(error: BellwireError) -> int:
    if isinstance(error, PairingError) and error.reason in (*_ABSENT, *_MALFORMED):
        return OFFLINE if error.reason in _ABSENT else USAGE
    return _OF_STATUS.get(Status(error.status), FAILED) if isinstance(error.status, Status) else FAILED


def main(argv: list[str] | None = None) -> int:
    top = parser()
    arguments = top.parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        # What others wrote may have characters that the terminal's encoding has not.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        if arguments.version:
            print(f"bellwire {version()}")
            return DONE
        if arguments.command is None:
            top.print_help(sys.stderr)
            return USAGE
        if arguments.verbose:
            import logging

            logging.basicConfig(stream=sys.stderr, level=logging.DEBUG, format="%(levelname)s %(message)s")
            log_to(logging.getLogger("bellwire"), LogLevel.DEBUG)
        return asyncio.run(carry_out(arguments))
    except KeyboardInterrupt:
        return INTERRUPTED
    except Failed as failed:
        return complain(arguments, failed.code, str(failed))
    except LibraryError as error:
        return complain(arguments, FAILED, str(error))
    except BellwireError as error:
        return complain(arguments, exit_code(error), str(error), error)
    except BrokenPipeError:
        # Who read our output has gone; nothing may be written at the end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
