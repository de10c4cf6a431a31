"""Pairing in its three flows, and what both sides know of each other afterwards."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone

import bellwire
import pytest
from peers import Peers, PlainDesktop, until


def test_a_scanned_code_pairs_sealed_and_both_sides_can_compare(peers: Peers) -> None:
    (desktop,) = peers.device.desktops()
    (device,) = peers.desktop.devices()
    assert desktop.secure and device.secure
    assert desktop.sas is not None and desktop.sas == device.sas
    assert len(desktop.sas.digits) == 6 and len(desktop.sas.words) == 2
    assert desktop.seal is not None and desktop.seal.psk and desktop.seal.problem is None
    assert device.seal is not None and device.seal.psk and device.seal.version in (1, 2)
    assert (desktop.name, device.name) == ("Desk", "Phone")
    assert desktop.online and desktop.paired_at is not None and desktop.paired_at.tzinfo is timezone.utc
    state = peers.device.state()
    assert (state.id, state.started) == (device.id, True)
    assert state.connection[0].online and state.connection[0].routes[0].url == peers.url
    assert peers.desktop.state().devices == 1 and peers.relay.state().stats["currentConnections"] == 2


@pytest.mark.parametrize("awaited", [False, True], ids=["waits", "awaited"])
def test_a_code_that_the_device_shows_is_scanned_and_confirmed(peers: Peers, awaited: bool) -> None:
    other = peers.open_device(name="Tablet")
    with other.events("pairing.changed", timeout=15) as changes:
        offer = asyncio.run(other.ashow()) if awaited else other.show()
        assert offer.expires_at > datetime.now(timezone.utc)
        found = peers.desktop.scan(offer.payload)
        assert (found.name, found.secure) == ("Tablet", True)
        peers.desktop.confirm(True)
        assert "completed" in (each.data["state"] for each in changes)
    until(lambda: [each.name for each in peers.desktop.devices()] == ["Phone", "Tablet"])
    assert [each.name for each in other.desktops()] == ["Desk"]


@pytest.mark.parametrize("accepts", [True, False])
def test_the_program_decides_about_a_desktop_that_cannot_prove_that_it_saw_the_code(
    peers: Peers, accepts: bool
) -> None:
    other = peers.open_device(name="Tablet")
    with pytest.raises(bellwire.NotFoundError):
        other.confirm(True)
    with other.events("pairing.changed", timeout=15) as changes:
        offer = other.show()
        with PlainDesktop(peers.url, offer) as plain:
            plain.confirm()
            asked = next(each.data for each in changes if each.data["state"] == "confirming")
            assert (asked["flow"], asked["desktop"]["name"], asked["desktop"]["secure"]) == ("show", "Office", False)
            other.confirm(accepts, "show")
            ended = next(each.data for each in changes if each.data["state"] in ("completed", "displaying"))
    assert ended["state"] == ("completed" if accepts else "displaying")
    assert [(each.name, each.secure, each.sas) for each in other.desktops()] == (
        [("Office", False, None)] if accepts else []
    )


def test_a_desktop_of_the_first_release_has_no_digits_to_compare(peers: Peers) -> None:
    older = bellwire._wire.decode(
        bellwire.PairedDesktop, {"id": "d", "name": "Old", "secure": True, "sasMissing": "older_peer"}
    )
    assert older.sas is None and older.sas_missing == "older_peer"
    assert [each.sas_missing for each in peers.device.desktops()] == [None]


@pytest.mark.parametrize("awaited", [False, True], ids=["waits", "awaited"])
def test_typed_digits_pair(peers: Peers, awaited: bool) -> None:
    other = peers.open_device(name="Tablet")
    if awaited:
        code = asyncio.run(peers.desktop.acode())
        desktop = asyncio.run(other.atype_code(code.code))
    else:
        code = peers.desktop.code()
        desktop = other.type_code(code.code)
    assert desktop.secure and desktop.name == "Desk"
    with pytest.raises(bellwire.PairingError):
        other.type_code("000000-000000", timeout=5)


def test_what_is_no_code_gives_its_reason(peers: Peers) -> None:
    with pytest.raises(bellwire.PairingError) as caught:
        peers.device.scan("not a code")
    assert caught.value.reason == "not_json"
    peers.desktop.cancel_pairing()
    peers.device.cancel_pairing("scan")
    with pytest.raises(bellwire.InvalidError):
        peers.device.cancel_pairing("dance")  # type: ignore[arg-type]
    with pytest.raises(bellwire.NotFoundError):
        peers.desktop.confirm(True)


def test_a_refused_device_does_not_pair(peers: Peers) -> None:
    other = peers.open_device(name="Stranger")
    offer = other.show()
    peers.desktop.scan(offer.payload)
    peers.desktop.confirm(False, "scan")
    assert [each.name for each in peers.desktop.devices()] == ["Phone"]


def test_names_can_be_changed_and_pairings_ended(peers: Peers) -> None:
    (desktop,), (device,) = peers.device.desktops(), peers.desktop.devices()
    peers.device.rename(desktop.id, "Büro \N{DESKTOP COMPUTER}")
    peers.desktop.rename(device.id, "Mine")
    assert peers.device.desktops()[0].name == "Büro \N{DESKTOP COMPUTER}" and peers.desktop.devices()[0].name == "Mine"
    for call in (peers.device.rename, peers.desktop.rename):
        with pytest.raises(bellwire.NotFoundError):
            call("nobody", "name")
    peers.device.unpair(desktop.id)
    assert peers.device.desktops() == ()
    until(lambda: peers.desktop.devices() == ())
    with pytest.raises(bellwire.NotFoundError):
        peers.device.wait_online(timeout=1)
    peers.device.scan(peers.desktop.offer().payload)
    peers.desktop.unpair_all()
    assert peers.desktop.devices() == ()
    peers.device.unpair_all()
    assert peers.device.desktops() == ()


def test_a_device_sleeps_and_wakes(peers: Peers) -> None:
    peers.device.suspend()
    until(lambda: not peers.device.state().connection[0].online, peers.device)
    peers.device.resume()
    peers.device.wait_online()
    assert peers.device.send("awake").success


def test_waiting_for_a_desktop_that_is_not_there_ends_in_time(peers: Peers) -> None:
    peers.desktop.stop()
    peers.relay.stop()
    until(lambda: not peers.device.state().connection[0].online, peers.device)
    with pytest.raises(bellwire.OfflineError, match=r"0\.2 s"):
        peers.device.wait_online(timeout=0.2)
    with pytest.raises(bellwire.OfflineError):
        asyncio.run(peers.device.await_online(timeout=0.2))
