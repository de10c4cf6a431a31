"""What a process may do to the package: fork, end while pushes arrive, use multiprocessing, be interrupted.

Each program runs in an interpreter of its own, with every warning an error and a fault told.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from peers import python, until

PAIRED = """
import asyncio, gc, multiprocessing, os, sys, threading, time
import bellwire

def paired(**options):
    desktop = bellwire.Desktop(state_dir=":memory:", relay={"listen": "127.0.0.1:0"}, follow_system=False)
    device = bellwire.Device(state_dir=":memory:", follow_system=False, **options)
    device.scan(desktop.offer().payload)
    device.wait_online()
    return desktop, device

def flood(desktop):
    "Pushes without end, on a thread that nobody waits for."
    def push():
        try:
            number = 0
            while True:
                desktop.notify(f"n{number}")
                number += 1
        except bellwire.BellwireError:
            pass
    threading.Thread(target=push, daemon=True).start()
"""


def good(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stdout, done.stderr)
    return done.stdout


ENDS = {
    "the main thread dispatches": """
seen = []
device.on_push(seen.append)
while len(seen) < 20:
    device.run(0.05)
""",
    "the library's own thread dispatches": """
seen = []
device.on_push(seen.append)
while len(seen) < 20:
    time.sleep(0.01)
""",
    "a daemon thread dispatches": """
seen = []
device.on_push(seen.append)
threading.Thread(target=device.run, daemon=True).start()
while len(seen) < 20:
    time.sleep(0.01)
""",
    "a daemon thread iterates": """
seen = []
def iterate():
    for push in device.pushes():
        seen.append(push)
threading.Thread(target=iterate, daemon=True).start()
while len(seen) < 20:
    time.sleep(0.01)
""",
    "a stream is half way": """
stream = device.pushes()
seen = [next(stream) for _ in range(20)]
""",
    "awaited calls are open": """
async def main():
    for _ in range(20):
        asyncio.ensure_future(device.asend("t"))
    async for push in device.apushes():
        break
    os.environ["X"] = "1"
asyncio.run(main())
""",
}


@pytest.mark.parametrize("way", ENDS)
def test_the_interpreter_ends_while_pushes_arrive(way: str) -> None:
    threaded = "threaded=True" if "library's" in way else ""
    assert good(python(PAIRED + f"desktop, device = paired({threaded})\nflood(desktop)\n" + ENDS[way])) == ""


def test_it_ends_although_a_callback_does_not() -> None:
    """A callback that never returns keeps its handle, and not the process."""
    program = """
desktop, device = paired(threaded=True)
inside = threading.Event()
def stay(push):
    inside.set()
    threading.Event().wait()
device.on_push(stay)
desktop.notify("t")
assert inside.wait(10)
import bellwire._core
bellwire._core.EXIT_GRACE = 0.3
print("end")
"""
    done = python(PAIRED + program)
    assert done.stdout == "end\n" and done.returncode == 0, done


def test_a_fork_is_told_and_the_parent_goes_on() -> None:
    program = """
desktop, device = paired()
subscription = device.on_push(print)
stream = device.events("*")
child = os.fork()
if child == 0:
    calls = [
        device.state, device.dispatch, device.fileno, lambda: device.run(0), lambda: device.send("t"),
        lambda: next(stream), lambda: device.subscribe("*", print), subscription.cancel, device.desktops,
        lambda: asyncio.run(device.asend("t")), lambda: bellwire.Device(state_dir=":memory:"),
        lambda: bellwire.qr.terminal("t"),
    ]
    for number, call in enumerate(calls):
        try:
            call()
        except bellwire.ForkedError as error:
            assert error.status is bellwire.Status.E_FORKED and str(error)
        else:
            os._exit(10 + number)
    device.close()
    del device, desktop, stream, subscription
    gc.collect()
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
subscription.cancel()
stream.close()
assert device.send("still here").success
"""
    warnings = ["-W", "ignore:This process:DeprecationWarning"]
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", *warnings, "-c", PAIRED + program],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert good(done) == ""


def test_forks_while_other_threads_call_and_dispatch() -> None:
    """No lock of the package's stays held in a child."""
    program = """
desktop, device = paired(threaded=True)
flood(desktop)
device.on_push(lambda push: None)
def churn():
    try:
        while True:
            device.subscribe("unread.changed", lambda event: None).cancel()
    except bellwire.BellwireError:
        pass
threading.Thread(target=churn, daemon=True).start()
for _ in range(40):
    child = os.fork()
    if child == 0:
        try:
            device.on_push(print)
        except bellwire.ForkedError:
            os._exit(0)
        os._exit(1)
    end = time.monotonic() + 10
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > end:
            os.kill(child, 9)
            sys.exit("a child hangs")
        time.sleep(0.001)
    assert status == 0, status
"""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "ignore:This process:DeprecationWarning", "-c", PAIRED + program],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert good(done) == ""


MULTIPROCESSING = """
def child(queue):
    try:
        device.state()
    except bellwire.BellwireError as error:
        queue.put(error)

def fresh(queue):
    other, one = paired()
    queue.put(one.send("t").success)
    one.close(), other.close()
"""


def test_multiprocessing_with_fork() -> None:
    """A child is told, its error travels; children that open handles of their own do so before the parent has."""
    program = """
context = multiprocessing.get_context("fork")
queue = context.Queue()
early = context.Process(target=fresh, args=(queue,))
early.start()
assert queue.get(timeout=20) is True
early.join(20)
assert early.exitcode == 0
desktop, device = paired()
late = context.Process(target=child, args=(queue,))
late.start()
error = queue.get(timeout=20)
late.join(20)
assert late.exitcode == 0
assert type(error) is bellwire.ForkedError and error.message, error
assert device.send("t").success
device.close(), desktop.close()
"""
    done = subprocess.run(
        [
            *(sys.executable, "-X", "faulthandler", "-W", "ignore:This process:DeprecationWarning", "-c"),
            PAIRED + MULTIPROCESSING + program,
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert good(done) == ""


WAITS = {
    "iterating": "for push in device.pushes(): pass",
    "running": "device.run()",
    "threaded": "for push in device.pushes(): pass",
    "awaiting": """
async def main():
    async for push in device.apushes(): pass
asyncio.run(main())
""",
}


@pytest.mark.parametrize("way", WAITS)
def test_ctrl_c_is_a_keyboard_interrupt(way: str) -> None:
    threaded = "threaded=True" if way == "threaded" else ""
    body = "".join(f"    {line}\n" for line in WAITS[way].splitlines())
    program = (
        PAIRED
        + f"""
desktop, device = paired({threaded})
try:
    print("ready", flush=True)
{body}
except KeyboardInterrupt:
    print("interrupted")
    desktop.notify("one more")
    assert next(device.pushes(timeout=5)).title == "one more"
    device.close(), desktop.close()
"""
    )
    command = [sys.executable, "-X", "faulthandler", "-W", "error", "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        # Asleep: in the wait.
        until(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "S")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "interrupted\n", "")


def test_importing_opens_nothing_and_starts_no_thread() -> None:
    program = """
import os, sys
from pathlib import Path
before = len(os.listdir("/proc/self/task")), sorted(os.listdir("/proc/self/fd"))
import bellwire
assert "asyncio" in sys.modules
assert (len(os.listdir("/proc/self/task")), sorted(os.listdir("/proc/self/fd"))) == before
assert "bellwire/_lib" not in Path("/proc/self/maps").read_text()
bellwire.version()
assert len(os.listdir("/proc/self/task")) == 1
assert "bellwire/_lib" in Path("/proc/self/maps").read_text()
"""
    assert good(python(program)) == ""


def test_signals_while_pushes_come_lose_neither_a_push_nor_an_exception() -> None:
    """Their handlers raise; they come at any moment, mostly inside the library."""
    program = (
        PAIRED
        + """
import signal
from bellwire import _callbacks

desktop, device = paired()
before = _callbacks.registered()
armed, raised, caught, titles = False, 0, 0, []
ignored = []
sys.unraisablehook = ignored.append

def interrupt(number, frame):
    global raised, armed
    if armed:
        armed = False
        raised += 1
        raise KeyboardInterrupt

signal.signal(signal.SIGINT, interrupt)
for number in range(200):
    desktop.notify(f"n{number}")
done = threading.Event()

def interrupts():
    while not done.wait(0.0005):
        os.kill(os.getpid(), signal.SIGINT)

thread = threading.Thread(target=interrupts, daemon=True)
thread.start()
stream = device.pushes(timeout=10)
ended = False
while len(titles) < 200 and not ended:
    try:
        armed = True
        for push in stream:
            titles.append(push.title)
            armed = len(titles) < 200
            if not armed:
                break
        else:
            ended = True
        armed = False
    except KeyboardInterrupt:
        caught += 1
done.set()
thread.join()
stream.close()
assert titles == [f"n{number}" for number in range(200)], titles
assert not ignored, ignored
assert raised == caught > 0, (raised, caught)
assert _callbacks.registered() == before
assert signal.getsignal(signal.SIGINT) is interrupt
device.close(), desktop.close()
print("good")
"""
    )
    assert good(python(program)) == "good\n"


def test_a_signal_at_any_step_of_an_iteration_loses_no_push() -> None:
    """At each place in turn where the interpreter looks for signals: after a call, at a function's begin, in a loop."""
    program = (
        PAIRED
        + """
import dis, signal
from bellwire import _callbacks

PACKAGE = os.path.dirname(_callbacks.__file__)
LOOKS = {"RESUME", "JUMP_BACKWARD", "JUMP_ABSOLUTE", "CALL_FUNCTION_EX"}
places = {}

def looks(code):
    "The offsets before which it looks for signals."
    if code not in places:
        steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
        places[code] = {
            after.offset for before, after in zip(steps, steps[1:])
            if before.opname in LOOKS or before.opname.startswith("CALL")
        }
    return places[code]

class Interrupted(Exception):
    pass

def interrupt(number, frame):
    raise Interrupted

def trace(frame, event, _):
    global left
    if not frame.f_code.co_filename.startswith(PACKAGE):
        return None
    frame.f_trace_lines, frame.f_trace_opcodes = False, True
    if event == "opcode" and frame.f_lasti in looks(frame.f_code):
        left -= 1
        if left == 0:
            sys.settrace(None)
            signal.raise_signal(signal.SIGINT)
    return trace

desktop, device = paired()
before = _callbacks.registered()
signal.signal(signal.SIGINT, interrupt)
ignored = []
sys.unraisablehook = ignored.append
for event in ("notification.received", "host.x"):
    wanted, titles, interruptions, place = 0, [], 0, 0
    stream = device.pushes(timeout=10) if event == "notification.received" else device.events("host.x", "host.y", timeout=10)
    for _ in range(1) if event == "host.x" else ():
        device.post("host.x", {"title": "first"})
        assert next(stream).data == {"title": "first"}
    while True:
        place += 1
        left = place
        if event == "host.x":
            device.post("host.x", {"title": f"n{wanted}"})
        else:
            desktop.notify(f"n{wanted}")
        wanted += 1
        interrupted = False
        while len(titles) < wanted:
            try:
                sys.settrace(None if interrupted else trace)
                for push in stream:
                    titles.append(push.title if event != "host.x" else push.data["title"])
                    break
                else:
                    raise SystemExit(f"{event}: lost after {place} steps")
            except Interrupted:
                interrupted = True
            finally:
                sys.settrace(None)
        interruptions += interrupted
        if not interrupted:
            break
    stream.close()
    assert titles == [f"n{number}" for number in range(wanted)], titles
    assert interruptions > 50, interruptions
    assert _callbacks.registered() == before, event
assert not ignored, ignored
device.close(), desktop.close()
print("good")
"""
    )
    assert good(python(program, timeout=120)) == "good\n"


def test_a_signal_inside_a_callback_is_handled_there() -> None:
    """A function of the host's that does not end can be interrupted, also after it has called the library."""
    program = (
        PAIRED
        + """
import signal

desktop, device = paired()
device.run(0)
seen = []

def callback(event):
    device.subscribe("host.y", print).cancel()
    try:
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass
    except KeyboardInterrupt:
        seen.append(event.event)
        raise

device.subscribe("host.x", callback)
device.post("host.x")
try:
    device.dispatch()
except KeyboardInterrupt:
    print(seen)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
device.close(), desktop.close()
"""
    )
    assert good(python(program)) == "['host.x']\n"
