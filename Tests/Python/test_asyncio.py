"""asyncio's own loop reads the handle: pushes, awaited calls, cancelling, ends, and errors of callbacks."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import bellwire
import pytest
from bellwire import _callbacks
from peers import Peers


def test_pushes_arrive_on_the_loop_without_a_thread(peers: Peers) -> None:
    async def main() -> list[str]:
        threads = threading.active_count()
        titles = []

        async def feed() -> None:
            for number in range(50):
                await peers.desktop.anotify(f"n{number}")

        feeding = asyncio.create_task(feed())
        async for push in peers.device.apushes(timeout=10):
            titles.append(push.title)
            if len(titles) == 50:
                break
        await feeding
        assert threading.active_count() == threads
        return titles

    assert asyncio.run(main()) == [f"n{number}" for number in range(50)]


def test_the_loop_is_free_while_somebody_waits(peers: Peers) -> None:
    async def main() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        ticking = asyncio.create_task(tick())
        with pytest.raises(StopAsyncIteration):
            await peers.device.apushes(timeout=0.3).__anext__()
        ticking.cancel()
        return ticks

    assert asyncio.run(main()) > 10


def test_a_hundred_calls_at_once(peers: Peers) -> None:
    async def main() -> list[bellwire.Sent]:
        return await asyncio.gather(*(peers.device.asend(f"t{number}") for number in range(100)))

    assert all(each.success for each in asyncio.run(main()))
    assert peers.desktop.history().total == 100


def test_every_stream_gets_every_push(peers: Peers) -> None:
    async def main() -> list[list[str]]:
        streams = [peers.device.apushes(timeout=5) for _ in range(2)]
        peers.device.start()

        async def read(stream: bellwire.AsyncStream[bellwire.Push]) -> list[str]:
            return [(await stream.__anext__()).title for _ in range(20)]

        async def feed() -> None:
            for number in range(20):
                await peers.desktop.anotify(f"n{number}")

        reading = [asyncio.create_task(read(each)) for each in streams]
        await asyncio.sleep(0)
        await feed()
        return await asyncio.gather(*reading)

    assert asyncio.run(main()) == [[f"n{number}" for number in range(20)]] * 2


def test_a_cancelled_call_lets_go_of_everything(peers: Peers) -> None:
    before = _callbacks.registered()

    async def main() -> None:
        peers.desktop.stop()
        peers.relay.stop()
        task = asyncio.create_task(peers.device.ashow(timeout=1))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The loop goes on reading until the library has let go of it.
        for _ in range(400):
            if _callbacks.registered() == before:
                return
            await asyncio.sleep(0.01)

    asyncio.run(main())
    assert _callbacks.registered() == before


def test_what_a_callback_raises_goes_to_the_loop(peers: Peers) -> None:
    seen: list[dict[str, Any]] = []

    def fail(push: bellwire.Push) -> None:
        raise ZeroDivisionError(push.title)

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: seen.append(context))
        with peers.device.on_push(fail):
            await peers.desktop.anotify("boom")
            stream = peers.device.aevents("host.done", timeout=5)
            stream.listen()
            for _ in range(500):
                if seen:
                    break
                await asyncio.sleep(0.01)
            await stream.aclose()

    asyncio.run(main())
    assert isinstance(seen[0]["exception"], ZeroDivisionError) and str(seen[0]["exception"]) == "boom"


def test_closing_ends_what_is_awaited(peers: Peers) -> None:
    async def main() -> None:
        peers.desktop.stop()
        device = peers.device

        async def iterate() -> int:
            return len([push async for push in device.apushes()])

        iterating = asyncio.create_task(iterate())
        showing = asyncio.create_task(device.atype_code("123456-789012", timeout=60))
        await asyncio.sleep(0.05)
        device.close()
        assert await asyncio.wait_for(iterating, 5) == 0
        with pytest.raises((bellwire.ClosedError, bellwire.PairingError)):
            await asyncio.wait_for(showing, 5)
        with pytest.raises(bellwire.ClosedError):
            await device.asend("t")

    asyncio.run(main())


def test_each_run_may_have_its_own_loop_but_two_at_once_may_not(peers: Peers) -> None:
    for _ in range(3):
        assert asyncio.run(peers.device.asend("t")).success

    async def main() -> None:
        stream = peers.device.apushes()
        stream.listen()

        def other() -> str:
            try:
                asyncio.run(peers.device.asend("t"))
            except RuntimeError as error:
                return str(error)
            return ""

        assert "another event loop" in await asyncio.get_running_loop().run_in_executor(None, other)
        await stream.aclose()

    asyncio.run(main())


def test_a_threaded_handle_is_awaited_too(peers: Peers) -> None:
    device = peers.open_device(name="Threaded", threaded=True)

    async def main() -> None:
        await device.ascan((await peers.desktop.aoffer()).payload)
        await device.await_online()
        await peers.desktop.anotify("hello")
        async for push in device.apushes(timeout=5):
            assert push.title == "hello"
            break
        assert (await device.asend("t")).success

    asyncio.run(main())
    with pytest.raises(bellwire.BusyError):
        device.dispatch()


def test_a_stream_that_is_forgotten_ends_its_subscription(peers: Peers) -> None:
    before = _callbacks.registered()

    async def main() -> None:
        stream = peers.device.aevents("*")
        stream.listen()
        assert _callbacks.registered() == before + 1
        del stream
        gc.collect()

    asyncio.run(main())
    assert _callbacks.registered() == before


def test_a_stream_of_all_events_takes_no_push_from_another(peers: Peers) -> None:
    """Pushes that come while their stream is away, between two of them, also when the other one takes everything."""

    async def main() -> tuple[list[str], int]:
        events, pushes = peers.device.aevents(timeout=10), peers.device.apushes(timeout=10)
        events.listen()
        count = 0

        async def count_pushes() -> None:
            nonlocal count
            async for event in events:
                count += event.event == "notification.received"
                if count == 10:
                    break

        counting = asyncio.create_task(count_pushes())
        await peers.desktop.anotify("n0")
        titles = [(await pushes.__anext__()).title]
        for number in range(1, 10):
            await peers.desktop.anotify(f"n{number}")
        await counting
        titles += [(await pushes.__anext__()).title for _ in range(9)]
        return titles, count

    assert asyncio.run(main()) == ([f"n{number}" for number in range(10)], 10)
