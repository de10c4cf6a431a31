"""Memory over many pushes: what they took is given back.

The short form is 10,000 pushes; BELLWIRE_PUSHES=100000 makes it the full one:

    BELLWIRE_PUSHES=100000 BELLWIRE_STAGE=build/stage pytest Tests/Python/test_memory.py
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from peers import python

PUSHES = int(os.environ.get("BELLWIRE_PUSHES", "10000"))

PROGRAM = """
import asyncio, gc, json, sys, time
from pathlib import Path
import bellwire
from bellwire import _callbacks

total, state = int(sys.argv[1]), Path(sys.argv[2])

def private():
    "KiB that are this process's alone: how much of mapped files is resident depends on what else the machine reads."
    gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return sum(int(status[name].split()[0]) for name in ("RssAnon", "VmSwap"))

desktop = bellwire.Desktop(state_dir=state / "desktop", relay={"listen": "127.0.0.1:0"}, follow_system=False)
device = bellwire.Device(state_dir=state / "device", follow_system=False)
device.scan(desktop.offer().payload)
device.wait_online()
# The histories stay as long as they are from the warm-up on: what grows after it is ours.
desktop.invoke("notification.updateSettings", {"retentionRows": 500})
heard = 0

def on_push(push):
    global heard
    assert push.title and push.data["n"] >= 0
    heard += 1

async def flood(count):
    "Most are heard by a callback, the rest is iterated over."
    global heard
    heard = taken = 0
    async def feed(first, number):
        for start in range(first, first + number, 32):
            some = range(start, min(start + 32, first + number))
            await asyncio.gather(*(desktop.anotify(f"Number {n}", "b" * 200, data={"n": n}) for n in some))
    most = count * 4 // 5
    attached = device.aevents("host.none")
    attached.listen()
    with device.on_push(on_push):
        await feed(0, most)
        while heard < most:
            await asyncio.sleep(0.005)
    await attached.aclose()
    feeding = asyncio.ensure_future(feed(most, count - most))
    async for push in device.apushes(timeout=60):
        taken += 1
        if taken == count - most:
            break
    await feeding
    assert (heard, taken) == (most, count - most), (heard, taken)

asyncio.run(flood(min(4000, total // 4)))
entries, before = _callbacks.registered(), private()
started = time.monotonic()
middle = 0
parts = 4
for part in range(parts):
    asyncio.run(flood(total // parts))
    if part == parts // 2 - 1:
        middle = private()
seconds = time.monotonic() - started
after = private()
print(json.dumps({"entries": _callbacks.registered() - entries, "before": before, "middle": middle, "after": after,
                  "seconds": seconds, "objects": len(gc.get_objects())}))
device.close()
desktop.close()
assert _callbacks.registered() == 0
"""


def test_memory_is_flat_over_many_pushes(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    # The disk's speed is not what is measured.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as state:
        done = python(PROGRAM, str(PUSHES), state, timeout=60 + PUSHES / 50)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    growth = found["after"] - found["before"]
    record_property("python_memory_growth_kib", growth)
    record_property("python_memory_growth_second_half_kib", found["after"] - found["middle"])
    record_property("python_memory_kib", found["after"])
    record_property("python_pushes", PUSHES)
    record_property("python_pushes_per_second", round(PUSHES / found["seconds"]))
    print(found)
    assert found["entries"] == 0
    # A leak of 100 bytes for each of 100,000 pushes would be 9.8 MiB; what caches take is bounded.
    assert growth < 8192, found
