"""Pushes that a desktop seals for a push service."""

from __future__ import annotations

import time
from typing import Any

import bellwire
import pytest
from peers import Peers


def sealed(peers: Peers, title: str, **options: str) -> tuple[str, dict[str, Any]]:
    """A push that the device does not have, and its payload. The device publishes its prekeys in its own time."""
    deadline = time.monotonic() + 60
    (device,) = peers.desktop.devices()
    while True:
        peers.device.unread_count()
        peers.device.state()
        peers.device.unread_count()
        peers.device.stop()
        push = peers.desktop.notify(title, "text").notification_id or ""
        try:
            return push, peers.desktop.seal_push(device.id, push, **options)
        except (bellwire.UnsupportedError, bellwire.NotFoundError):
            assert time.monotonic() < deadline
        peers.device.start()
        peers.device.wait_online(timeout=15)


def test_a_sealed_push_is_received_once(peers: Peers) -> None:
    peers.device.set_token("fcm", b"\x01")
    push, payload = sealed(peers, "Tea")
    assert list(payload) == ["data"]
    assert peers.device.receive("fcm", payload) == bellwire.Received("push", push)
    assert peers.device.receive("fcm", payload).duplicate
    (row,) = [row for row in peers.device.inbox.load().notifications if row.id == push]
    assert row.hint and row.title == "Tea" and row.desktop == peers.paired.id
    with peers.device.pushes() as pushes:
        hint = next(iter(pushes))
    assert (hint.id, hint.hint) == (push, True)


def test_an_apns_payload_has_an_alert(peers: Peers) -> None:
    peers.device.set_token("apns", b"\x01")
    _, payload = sealed(peers, "Tea", service="apns", alert="News")
    assert payload["aps"] == {"alert": {"title": "News"}, "mutable-content": 1}


def test_refusals_have_their_exceptions(peers: Peers) -> None:
    with pytest.raises(bellwire.NotFoundError):
        peers.desktop.seal_push("did:key:zNobody", "n-1")
    (device,) = peers.desktop.devices()
    with pytest.raises(bellwire.NotFoundError):
        peers.desktop.seal_push(device.id, "n-1")
    with pytest.raises(bellwire.InvalidError):
        peers.desktop.seal_push(device.id, "")
    with pytest.raises(bellwire.InvalidError):
        peers.desktop.seal_push(device.id, "n-1", service="not a service")
    peers.device.stop()
    push = peers.desktop.notify("Tea").notification_id or ""
    with pytest.raises(bellwire.UnsupportedError) as refused:
        peers.desktop.seal_push(device.id, push)
    assert refused.value.detail["reason"] == "no_prekeys"
