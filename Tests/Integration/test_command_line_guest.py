"""What `bellwire listen` says of connections, also where another program has the device."""

from __future__ import annotations

from collections.abc import Callable

from programs import Program
from test_command_line import Pair

Start = Callable[..., Program]


def test_a_guest_says_whose_connections_it_uses_and_whether_they_are_up(bellwire: Start) -> None:
    pair = Pair(bellwire)
    holder = bellwire("listen")
    holder.error_line(r"^bellwire: connected to Desk over ws://127\.0\.0\.1:\d+$")
    guest = bellwire("listen")
    # Nothing changes meanwhile, so no event tells it.
    guest.error_line(
        rf"^bellwire: \S+ \(process {holder.pid}\) has the device open; this program uses its connections$"
    )
    guest.error_line(r"^bellwire: connected to Desk over ws://127\.0\.0\.1:\d+$")
    pair.desktop.end()
    for listener in (holder, guest):
        listener.error_line("^bellwire: not connected to Desk")
    # One that comes later says why it waits.
    late = bellwire("listen")
    late.error_line(rf"\(process {holder.pid}\) has the device open")
    late.error_line("^bellwire: not connected to Desk, retrying: cannot connect to ")
    as_json = bellwire("listen", "--json", "--timeout", "0.5")
    assert as_json.wait() == 0
    assert as_json.err.all == []
    # Both others hear of the end; one of them takes over.
    holder.end()
    assert any("has the device open" in line for line in guest.err.all)
    candidates = (guest, late)
    for listener in candidates:
        listener.error_line(
            rf"\(process {holder.pid}\) no longer has the device open|\(process ({guest.pid}|{late.pid})\) has the device open"
        )


def test_a_listener_that_has_the_device_itself_names_no_other_program(bellwire: Start) -> None:
    pair = Pair(bellwire)
    listener = bellwire("listen")
    listener.error_line("^bellwire: connected to Desk over")
    assert listener.err.all == [line for line in listener.err.all if "has the device" not in line]
    assert pair.desktop.process.poll() is None
