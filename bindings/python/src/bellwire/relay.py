"""A relay: forwards frames between desktops and devices; it cannot read end-to-end encrypted ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._handle import Handle
from ._wire import one
from .device import StrPath, common_options
from .states import RelayState


class Relay(Handle):
    """A relay. It binds no address until :meth:`start`.

    ``listen``
        Where it listens, such as ``127.0.0.1:9001``; port 0 = any.
    ``health``
        Where its health page is; none by default.
    ``certificate_file``, ``key_file``
        PEM files for wss://.
    ``state_dir``
        Keeps which ids were ever proved; by default memory only.
    ``origins``
        The URLs that proofs may be made for; by default its addresses with its port.
    ``threaded``, ``options``
        As for :class:`~bellwire.Device`; ``bellwire relay --help`` lists the limits.
    """

    _role = "relay"

    def __init__(
        self,
        *,
        listen: str | None = None,
        health: str | None = None,
        certificate_file: StrPath | None = None,
        key_file: StrPath | None = None,
        state_dir: StrPath | None = None,
        origins: list[str] | None = None,
        threaded: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        files = {"certificate_file": certificate_file, "key_file": key_file}
        tls = {name: str(value) for name, value in files.items() if value is not None}
        super().__init__(
            common_options(
                state_dir, None, threaded, options, listen=listen, health=health, origins=origins, tls=tls or None
            )
        )

    def start(self) -> None:
        """Binds and serves. Idempotent.

        Raises :class:`~bellwire.NetworkError` (address in use, not ours; certificate), :class:`~bellwire.DeniedError`
        (a port below 1024).
        """
        super().start()

    def stop(self) -> None:
        """Notifies the peers, then closes their connections; frames stored for absent peers are lost. Idempotent."""
        super().stop()

    def state(self) -> RelayState:
        """Whether it serves, its ports, and the content of /stats."""
        return self._ask(one(RelayState), "state")
