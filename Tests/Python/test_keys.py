"""Keys that are revoked, and keys that are replaced (WireRekey, "Overview")."""

from __future__ import annotations

from pathlib import Path

import bellwire
import pytest
from peers import Peers, until


def test_a_stolen_key_is_refused_until_it_is_readmitted(peers: Peers) -> None:
    (desktop,), (device,) = peers.device.desktops(), peers.desktop.devices()
    assert peers.desktop.revoked() == () and peers.device.revoked() == ()
    for call in (peers.desktop.revoke, peers.device.revoke):
        with pytest.raises(bellwire.InvalidError):
            call("nobody")
    with pytest.raises(bellwire.InvalidError):
        peers.desktop.revoke(desktop.id)
    peers.desktop.revoke(device.id)
    (key,) = peers.desktop.revoked()
    assert (key.id, key.name, key.moved_to) == (device.id, device.name, None) and key.at
    assert peers.desktop.devices() == ()
    offer = peers.desktop.offer(timeout=10)
    with pytest.raises(bellwire.PairingError):
        peers.device.scan(offer.payload, timeout=2)
    with pytest.raises(bellwire.NotFoundError):
        peers.desktop.readmit("nobody")
    peers.desktop.readmit(device.id)
    assert peers.desktop.revoked() == ()
    peers.device.scan(peers.desktop.offer(timeout=10).payload, timeout=15)
    assert [each.id for each in peers.desktop.devices()] == [device.id]

    peers.device.revoke(desktop.id)
    with pytest.raises(bellwire.DeniedError, match="revoked"):
        peers.device.scan(peers.desktop.offer(timeout=10).payload, timeout=2)
    assert [each.id for each in peers.device.revoked()] == [desktop.id]


def test_nothing_moves_without_a_state_directory_and_nothing_is_answered_unasked(peers: Peers) -> None:
    for handle in (peers.device, peers.desktop):
        status = handle.rekey_status()
        assert (status.state, status.new_id, status.peers, status.questions) == ("none", None, (), ())
        with pytest.raises(bellwire.UnsupportedError):
            handle.rekey()
        with pytest.raises(bellwire.NotFoundError):
            handle.cancel_rekey()
        with pytest.raises(bellwire.NotFoundError):
            handle.confirm_rekey("nobody", "did:key:zNew", True)


def test_a_device_moves_to_a_new_key_and_keeps_its_pairing(peers: Peers, tmp_path: Path) -> None:
    folder = str(tmp_path / "mover")
    device = peers.open_device(state_dir=folder, name="Mover")
    device.scan(peers.desktop.offer(timeout=10).payload, timeout=15)
    device.wait_online(timeout=15)
    # A session was complete once the desktop has answered in it.
    assert device.send("before").success
    old = device.state().id
    begun = until(lambda: rekey(device))
    assert begun.state == "asking" and begun.id == old and begun.new_id and begun.new_id != old
    assert [(peer.name, peer.state) for peer in begun.peers] == [("Desk", "waiting")]
    question = until(lambda: peers.desktop.rekey_status().questions)[0]
    assert (question.id, question.name, question.new_id) == (old, "Mover", begun.new_id)
    with pytest.raises(bellwire.NotFoundError):
        peers.desktop.confirm_rekey(old, "did:key:zOther", True)
    peers.desktop.confirm_rekey(old, question.new_id, True)
    until(lambda: device.rekey_status().state == "ready")
    assert device.send("still").success and device.state().id == old
    device.close()

    device = peers.open_device(state_dir=folder, name="Mover")
    assert device.state().id == begun.new_id
    device.start()
    until(lambda: begun.new_id in [each.id for each in peers.desktop.devices()])
    device.wait_online(timeout=15)
    assert device.send("after").success
    until(lambda: device.rekey_status().state == "none")
    assert [(key.id, key.moved_to) for key in peers.desktop.revoked()] == [(old, begun.new_id)]


def rekey(device: bellwire.Device) -> bellwire.Rekey | None:
    """None while no session with the desktop was complete."""
    try:
        return device.rekey()
    except bellwire.UnsupportedError:
        return None
