"""The web server of the fetcher's own tests, on 127.0.0.2, which devices are told to allow; and what became of images."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from peers import Object
from programs import ROOT, Program, wait_until

if TYPE_CHECKING:
    from test_alerts import House


class Web:
    """Tests/Unit/Network/HTTPClientTests/Mocks/web.py, which see."""

    def __init__(self) -> None:
        self.program = Program([sys.executable, ROOT / "Tests/Unit/Network/HTTPClientTests/Mocks/web.py"])
        ready = json.loads(self.program.line('"ready"', timeout=60).string)["ready"]
        self.authority = ready.pop("authority")
        self.ports: dict[str, int] = ready

    def url(self, path: str, host: str = "127.0.0.2", scheme: str = "https", at: str = "secure") -> str:
        return f"{scheme}://{host}:{self.ports[at]}/{path}"

    @property
    def said(self) -> list[Object]:
        return [json.loads(line) for line in self.program.out.all]

    @property
    def requests(self) -> list[str]:
        """The paths that were asked for."""
        return [said["request"] for said in self.said if "request" in said]

    def close(self) -> None:
        assert self.program.process.stdin is not None
        self.program.process.stdin.close()
        self.program.wait()


def options(web: Web, **images: Any) -> Object:
    return {"tls": {"ca_file": web.authority}, "images": {"allow": ["127.0.0.2"], **images}}


def image_of(house: House, identity: str) -> Object | None:
    """What notification.presented says of a push's image, once it was shown."""
    wait_until(lambda: presented(house, identity) != [], 20)
    (told,) = presented(house, identity)
    assert told["presented"] is True, told
    found: Object | None = told.get("image")
    return found


def presented(house: House, identity: str) -> list[Object]:
    """All that was said of what became of a push."""
    return [each for each in house.device.of("notification.presented") if each["id"] == identity]
