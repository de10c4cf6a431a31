"""Callbacks: where they run, what they raise, what they may do; streams; threads."""

from __future__ import annotations

import gc
import queue
import select
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bellwire
import pytest
from bellwire import _callbacks
from peers import Peers, until


def test_what_a_callback_raises_comes_out_of_dispatch(peers: Peers) -> None:
    def fail(push: bellwire.Push) -> None:
        raise KeyError(push.title)

    with peers.device.on_push(fail):
        peers.desktop.notify("boom")
        with pytest.raises(KeyError, match="boom"):
            peers.device.run(5)
    # It was handed over, and the next one comes.
    peers.desktop.notify("next")
    assert next(peers.device.pushes(timeout=5)).title == "next"


def test_an_iteration_raises_what_another_callback_raises(peers: Peers) -> None:
    def fail(_event: bellwire.Event) -> None:
        raise ValueError("from a callback")

    with peers.device.subscribe("host.bang", fail):
        peers.device.post("host.bang", {"n": 1})
        with pytest.raises(ValueError, match="from a callback"):
            next(peers.device.pushes(timeout=5))


def test_keyboard_interrupt_comes_before_other_exceptions(peers: Peers, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[BaseException | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda arguments: told.append(arguments.exc_value))

    def fail(event: bellwire.Event) -> None:
        raise KeyboardInterrupt if event.data["n"] == 1 else ValueError(event.data["n"])

    with peers.device.subscribe("host.bang", fail):
        for number in range(3):
            peers.device.post("host.bang", {"n": number})
        with pytest.raises(KeyboardInterrupt):
            peers.device.dispatch()
    assert [str(each) for each in told] == ["0", "2"]


def test_exceptions_on_the_librarys_thread_go_to_the_threads_hook(
    peers: Peers, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[BaseException | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda arguments: told.append(arguments.exc_value))
    device = peers.open_device(threaded=True)

    def fail(_event: bellwire.Event) -> None:
        raise ValueError("on another thread")

    device.subscribe("host.bang", fail)
    device.post("host.bang")
    until(lambda: told)
    assert str(told[0]) == "on another thread"


def test_closing_inside_a_callback(peers: Peers) -> None:
    before = _callbacks.registered()
    device = peers.open_device()
    calls: list[str] = []

    def close(event: bellwire.Event) -> None:
        calls.append(event.event)
        device.close()

    device.subscribe("host.end", close)
    device.subscribe("host.end", close)
    device.post("host.end")
    device.run(5)
    assert calls == ["host.end"] and device.closed
    assert _callbacks.registered() == before
    with pytest.raises(bellwire.ClosedError):
        device.state()
    device.close()


def test_closing_while_iterating_ends_the_iteration(peers: Peers) -> None:
    stream = peers.device.pushes()
    ends: queue.Queue[list[bellwire.Push]] = queue.Queue()
    threading.Thread(target=lambda: ends.put(list(stream)), daemon=True).start()
    threading.Timer(0.1, peers.device.close).start()
    assert ends.get(timeout=10) == []


def test_a_callback_may_call_the_library(peers: Peers) -> None:
    seen: list[object] = []

    def call(push: bellwire.Push) -> None:
        seen.append(peers.device.inbox.load().total)
        seen.append(peers.device.mark_as_read(push.id))
        with pytest.raises(bellwire.BusyError):
            peers.device.dispatch()

    with peers.device.on_push(call):
        peers.desktop.notify("t")
        until(lambda: len(seen) == 2, peers.device)
    assert seen[0] == 1 and isinstance(seen[1], bellwire.Marked)


def test_a_cancelled_subscription_is_not_called(peers: Peers) -> None:
    before = _callbacks.registered()
    calls: list[int] = []
    subscription = peers.device.subscribe("host.x", lambda event: calls.append(event.data["n"]))
    peers.device.post("host.x", {"n": 1})
    peers.device.dispatch()
    peers.device.post("host.x", {"n": 2})
    subscription.cancel()
    subscription.cancel()
    peers.device.dispatch()
    assert calls == [1] and _callbacks.registered() == before


def test_a_registration_that_fails_lets_go_of_the_callback(peers: Peers) -> None:
    before = _callbacks.registered()
    for event in ("no.such.event", "", "a\0b", "\ud800"):
        with pytest.raises(bellwire.InvalidError):
            peers.device.subscribe(event, print)
    assert _callbacks.registered() == before


def test_the_descriptor_fits_any_loop_and_does_not_change(peers: Peers) -> None:
    poll = select.epoll()
    poll.register(peers.device, select.EPOLLIN)
    number = peers.device.fileno()
    got: list[str] = []
    with peers.device.on_push(lambda push: got.append(push.title)):
        peers.desktop.notify("polled")
        while not got:
            assert poll.poll(10)
            peers.device.dispatch()
    assert peers.device.fileno() == number
    poll.close()


def test_pushes_that_nobody_iterates_to_stay_in_the_store(peers: Peers, tmp_path: Path) -> None:
    """Between two pushes of an iteration the rest is not handed over; the next device has it, each once."""
    device = peers.open_device(state_dir=tmp_path / "device")
    device.scan(peers.desktop.offer().payload)
    device.wait_online()
    for number in range(200):
        peers.desktop.notify(f"n{number}")
    taken = []
    for push in device.pushes(timeout=5):
        assert not push.redelivered
        taken.append(push.title)
        if len(taken) == 70:
            break
    taken += [push.title for push, _ in zip(device.pushes(timeout=5), range(5))]
    device.close()
    again = peers.open_device(state_dir=tmp_path / "device")
    rest = [(push.title, push.redelivered) for push in again.pushes(timeout=1)]
    # zip takes one more than it gives.
    assert taken + [f"n{75}"] + [title for title, _ in rest] == [f"n{number}" for number in range(200)]
    assert not any(redelivered for _, redelivered in rest)


def test_streams_and_callbacks_beside_each_other_all_get_everything(peers: Peers) -> None:
    heard: list[str] = []
    first = peers.device.pushes(timeout=5)
    peers.desktop.notify("n0")
    assert next(first).title == "n0"
    second = peers.device.pushes(timeout=5)
    with peers.device.on_push(lambda push: heard.append(push.title)):
        for number in range(1, 10):
            peers.desktop.notify(f"n{number}")
        expected = [f"n{number}" for number in range(1, 10)]
        assert [next(first).title for _ in expected] == expected
        assert [next(second).title for _ in expected] == expected
    assert heard == expected


def test_events_that_are_not_taken_end_a_stream_and_nothing_else(peers: Peers) -> None:
    with peers.device.events("host.tick", timeout=0) as stream:
        assert list(stream) == []
    stream = peers.device.events("host.tick", timeout=1)
    peers.device.post("host.tick", {"n": 0})
    assert next(stream).data == {"n": 0}
    for number in range(1500):
        peers.device.post("host.tick", {"n": number})
        if number % 100 == 0:
            peers.device.dispatch()
    peers.device.dispatch()
    seen = 0
    with pytest.raises(bellwire.LimitError):
        for _ in stream:
            seen += 1
    assert seen == 1024


def test_many_threads_call_at_once(peers: Peers) -> None:
    failures: list[BaseException] = []
    pushes: list[str] = []
    stop = threading.Event()

    def dispatch() -> None:
        try:
            with peers.device.on_push(lambda push: pushes.append(push.title)):
                while not stop.is_set():
                    peers.device.run(0.05)
        except BaseException as error:
            failures.append(error)

    def call(number: int) -> None:
        try:
            for each in range(20):
                assert peers.device.send_to_mobile(f"{number}-{each}").success
                peers.device.state()
                with peers.device.subscribe("unread.changed", lambda event: None):
                    peers.device.post("host.x")
        except BaseException as error:
            failures.append(error)

    dispatching = threading.Thread(target=dispatch)
    dispatching.start()
    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    until(lambda: len(pushes) == 160 or failures)
    stop.set()
    dispatching.join(10)
    assert not failures and sorted(pushes) == sorted(f"{a}-{b}" for a in range(8) for b in range(20))


def test_threads_may_iterate_at_once(peers: Peers) -> None:
    results: list[list[str]] = []

    def iterate(stream: bellwire.Stream[bellwire.Push]) -> None:
        results.append([next(stream).title for _ in range(30)])

    streams = [peers.device.pushes(timeout=10) for _ in range(3)]
    threads = [threading.Thread(target=iterate, args=(each,)) for each in streams]
    for thread in threads:
        thread.start()
    # A subscription has its number once the library has made it: one that is only being made misses the first push.
    until(lambda: all(each._source.numbers and each._source.numbers[0].value for each in streams))
    for number in range(30):
        peers.desktop.notify(f"n{number}")
    for thread in threads:
        thread.join(30)
    assert results == [[f"n{number}" for number in range(30)]] * 3


def test_a_waiting_call_lets_other_threads_run(peers: Peers) -> None:
    """The GIL is given back: a thread counts while another one waits in C."""
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    # A relay that takes connections and says nothing.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        device = peers.open_device(relay_url=f"ws://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(bellwire.PairingError) as caught:
            device.show(timeout=0.5)
    done.set()
    thread.join()
    assert caught.value.reason == "relay_unreachable"
    assert counted > 20


def test_run_ends_with_its_time_or_with_quit(peers: Peers) -> None:
    ends: queue.Queue[float] = queue.Queue()

    def run() -> None:
        started = time.monotonic()
        peers.device.run(0.2)
        ends.put(time.monotonic() - started)

    threading.Thread(target=run, daemon=True).start()
    assert ends.get(timeout=30) > 0.15
    threading.Timer(0.1, peers.device.quit).start()
    peers.device.run()
    peers.device.quit()
    peers.device.run()


def test_a_handle_that_is_forgotten_is_closed_and_told(tmp_path: Path) -> None:
    device = bellwire.Device(state_dir=tmp_path / "device", follow_system=False, options={"shared": False})
    with pytest.raises(bellwire.BusyError):
        bellwire.Device(state_dir=tmp_path / "device", follow_system=False, options={"shared": False})
    with pytest.warns(ResourceWarning, match="unclosed Device"):
        del device
        gc.collect()

    def reopened() -> bool:
        try:
            bellwire.Device(state_dir=tmp_path / "device", follow_system=False, options={"shared": False}).close()
        except bellwire.BusyError:
            return False
        return True

    until(reopened)


def test_another_threads_close_ends_whatever_waits() -> None:
    """An iteration, a run, and a callback that goes on meanwhile; many closes at once are one."""

    def ended(body: Callable[[bellwire.Device], object]) -> object:
        device = bellwire.Device(state_dir=":memory:")
        closer = threading.Timer(0.1, device.close)
        closer.start()
        result = body(device)
        closer.join()
        assert device.closed
        return result

    assert ended(lambda device: list(device.pushes())) == []
    assert ended(lambda device: list(device.events("host.never"))) == []
    assert ended(lambda device: device.run()) is None

    device = bellwire.Device(state_dir=":memory:")
    told: list[str] = []
    closers = [threading.Thread(target=device.close) for _ in range(8)]

    def callback(_event: object) -> None:
        for closer in closers:
            closer.start()
        closers[0].join(0.2)
        told.append("callback")

    device.subscribe("host.test", callback)
    device.post("host.test")
    device.run(10)
    for closer in closers:
        closer.join(10)
    assert told == ["callback"] and device.closed and not any(closer.is_alive() for closer in closers)


def test_a_stream_may_be_forgotten_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the collector inside a callback, on another thread meanwhile, after the close."""
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    device = bellwire.Device(state_dir=":memory:")

    def used() -> Any:
        stream: Any = device.events("host.used", timeout=5)
        device.post("host.used")
        next(stream)
        return stream

    cycle, other, last = used(), [used()], used()
    cycle.itself = cycle
    del cycle
    joined: list[bool] = []

    def callback(_event: object) -> None:
        gc.collect()
        thread = threading.Thread(target=other.clear)
        thread.start()
        thread.join(5)
        joined.append(not thread.is_alive())
        device.quit()

    device.subscribe("host.test", callback)
    device.post("host.test")
    device.run(10)
    device.close()
    del last
    gc.collect()
    assert joined == [True] and unraisable == []
