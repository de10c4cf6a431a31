"""Whatever text and whatever JSON comes: it comes back the same, or a named error does; nothing crashes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import bellwire
import pytest
from bellwire import _callbacks, _wire, qr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from peers import Peers

#: Any text that UTF-8 has a form for, with what shells, markup, terminals and C strings trip over.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200) | st.sampled_from(
    [
        "\0",
        "a\0b",
        "\u202e\u2066",
        "\x1b]0;x\x07",
        "<b>&amp;</b>",
        "%s%n",
        "\ufeff",
        "\U0010ffff",
        "e\u0301",
        "\r\n",
        '"\\',
    ]
)
ANY_TEXTS = TEXTS | st.text(max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXTS, inner, max_size=4),
    max_leaves=12,
)
quick = settings(deadline=None, max_examples=100, suppress_health_check=list(HealthCheck), print_blob=True)


@pytest.fixture(scope="module")
def shared() -> Iterator[Peers]:
    with Peers() as peers:
        yield peers


@quick
@given(title=TEXTS.filter(bool), body=TEXTS)
def test_any_text_comes_back_the_same_by_every_way(shared: Peers, title: str, body: str) -> None:
    stream = shared.device.pushes(timeout=10)
    sent = shared.device.send(title, body)
    row = shared.desktop.history(limit=1).notifications[0]
    assert (row.id, row.title, row.body) == (sent.notification_id, title, body)
    push = next(stream)
    assert (push.title, push.body) == (title, body)
    page = shared.device.inbox.load(limit=1)
    assert (page.notifications[0].title, page.notifications[0].body) == (title, body)


@quick
@given(data=st.dictionaries(TEXTS, VALUES, max_size=4))
def test_any_data_comes_back_the_same(shared: Peers, data: dict[str, Any]) -> None:
    stream = shared.device.pushes(timeout=10)
    try:
        shared.desktop.notify("data", data=data)
    except bellwire.BellwireError as error:
        assert error.message
        return
    push = next(stream)
    assert push.data == data


@quick
@given(title=ANY_TEXTS, body=ANY_TEXTS)
def test_a_text_without_utf_8_is_refused_by_name(shared: Peers, title: str, body: str) -> None:
    try:
        shared.desktop.notify(title, body)
    except bellwire.InvalidError as error:
        assert error.message and error.status == bellwire.Status.E_INVALID
    else:
        title.encode(), body.encode()
        next(shared.device.pushes(timeout=10))


OPTIONS = st.dictionaries(
    st.sampled_from(
        [
            "name",
            "platform",
            "relay_url",
            "keys",
            "tls",
            "legacy",
            "follow_system",
            "late_alerts",
            "alerts",
            "application_id",
            "program",
            "icon",
            "images",
            "relay",
            "confirm",
            "signaling_url",
            "max_commands_per_second",
            "listen",
            "health",
            "origins",
        ]
    )
    | ANY_TEXTS,
    ANYTHING,
    max_size=4,
)


@quick
@given(options=OPTIONS)
@pytest.mark.parametrize("kind", [bellwire.Device, bellwire.Desktop, bellwire.Relay])
def test_any_options_open_a_handle_or_raise(kind: Any, options: dict[str, Any]) -> None:
    before = _callbacks.registered()
    # Neither the keyring nor the network of the machine that the tests run on.
    safe = {key: value for key, value in options.items() if key not in ("keys", "threaded", "state_dir")}
    if kind is not bellwire.Relay:
        safe.update(state_dir=":memory:", follow_system=False)
    try:
        handle = kind(options=safe)
    except bellwire.BellwireError as error:
        assert error.message
    else:
        handle.close()
    assert _callbacks.registered() == before


@quick
@given(params=ANYTHING, method=ANY_TEXTS | st.sampled_from(["notification.send", "notification.getHistory"]))
def test_any_parameters_give_a_result_or_an_error(shared: Peers, method: str, params: Any) -> None:
    for peer in (shared.device, shared.desktop):
        try:
            peer.invoke(method, params, timeout=5)
        except bellwire.BellwireError as error:
            assert error.message
    for call in (
        lambda: shared.device.receive("fcm", params),
        lambda: shared.device.post("host.x", params),
        lambda: shared.device.scan(json.dumps(params), timeout=5),
        lambda: shared.device.rename(method, method),
        lambda: shared.desktop.scan(method),
        lambda: shared.device.subscribe(method, print).cancel(),
        lambda: qr.svg(method),
    ):
        try:
            call()
        except bellwire.BellwireError as error:
            assert error.message
    for push in shared.device.pushes(timeout=0):
        assert push.id


def deep(depth: int) -> bytes:
    """A notification that is nested so deep."""
    return b'{"title":"deep","body":"","data":' + b'{"a":' * (depth - 1) + b"1" + b"}" * (depth - 1) + b"}"


def test_data_that_nests_as_deep_as_it_may_arrives(shared: Peers) -> None:
    stream = shared.device.pushes(timeout=10)
    shared.desktop._core.ask("notify", deep(64), 5000)
    value: Any = next(stream).data
    for _ in range(63):
        value = value["a"]
    assert value == 1


@pytest.mark.parametrize("depth", [65, 900, 1100, 2000, 5000])
def test_data_that_nests_deeper_is_refused_by_name(shared: Peers, depth: int) -> None:
    with pytest.raises(bellwire.InvalidError, match="deep"):
        shared.desktop._core.ask("notify", deep(depth), 5000)
    assert shared.desktop.history().notifications is not None


@given(value=st.integers())
def test_every_number_is_a_moment_or_the_first_or_last(value: int) -> None:
    moment = _wire.moment(value)
    assert moment.tzinfo is not None
    if _wire._FIRST <= value <= _wire._LAST:
        assert _wire.milliseconds(moment) == value


@given(status=st.integers(-(2**31), 2**31 - 1), detail=ANYTHING, message=ANYTHING)
def test_every_status_is_an_exception(status: int, detail: Any, message: Any) -> None:
    error = bellwire.errors.error_of(status, {"message": message, "detail": detail})
    assert isinstance(error, bellwire.BellwireError) and error.status == status and str(error)


@given(word=st.text())
def test_words_of_newer_peers_are_members(word: str) -> None:
    priority = bellwire.Priority(word)
    assert priority == word and str(priority) == word and isinstance(priority, bellwire.Priority)
