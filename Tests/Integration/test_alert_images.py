"""Images of pushes, over the C interface: from a server that does everything wrong to the screen, and texts that are
sealed."""

from __future__ import annotations

import base64
import ctypes
import itertools
import json
import os
import struct
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Start
from peers import Object
from pictures import Web, image_of, options, presented
from programs import Program, fastest, wait_until
from test_alerts import House


@pytest.fixture
def gallery(start: Start, relay: str, tmp_path: Path, web: Web) -> Iterator[House]:
    house = House(start, relay, tmp_path, **options(web))
    house.authorize()
    yield house
    house.device.close()
    house.desktop.close()


def shown_once(house: House, *titles: str) -> None:
    """Each was shown exactly once, also after all that is still under way has come to its end."""
    last = house.push("The last")
    image_of(house, last)
    shown = [question["alert"]["title"] for question in house.device.questions("present")]
    for title in titles:
        assert shown.count(title) == 1, shown


def decoded(path: str) -> tuple[int, int]:
    """Width and height of a PNG, all of whose pixels are there."""
    data = Path(path).read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    at = data.index(b"IDAT")
    length = struct.unpack(">I", data[at - 4 : at])[0]
    assert len(zlib.decompress(data[at + 4 : at + 4 + length])) == height * (width * 3 + 1)
    return width, height


# What is shown


def test_an_image_is_on_the_alert_and_its_file_is_our_own(gallery: House, web: Web, tmp_path: Path) -> None:
    pushed = gallery.push("Picture", imageUrl=web.url("png"))
    alert = gallery.shown("Picture")
    image = image_of(gallery, pushed)
    assert image is not None and list(image) == ["path"]
    assert alert["image"] == image["path"] and alert["alert"]["attachments"] == [image["path"]]
    file = Path(image["path"])
    assert file.parent == tmp_path / "device/images"
    assert file.suffix == ".png" and set(file.stem) <= set("0123456789abcdef") and len(file.stem) >= 16
    assert decoded(image["path"]) == (4, 3)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    counters = gallery.device.call("bw_alerts_state")["counters"]
    assert (counters["images"], counters["imagesRefused"]) == (1, 0)
    shown_once(gallery, "Picture")


NOT_ONE = "http://127.0.0.2/x.png"


@pytest.mark.parametrize(
    "push",
    [
        {"imageUrl": "URL"},
        {"data": {"imageUrl": "URL"}},
        {"data": {"fcm_options": {"image": "URL"}}},
        {"data": {"fcm_options": '{"image":"URL"}'}},
        {"data": {"notification": {"image": "URL"}}},
        {"data": {"media_url": "URL"}},
        {"imageUrl": NOT_ONE, "data": {"imageUrl": "URL"}},
        {"imageUrl": "no address", "data": {"imageUrl": "", "fcm_options": {"image": 7}, "media_url": "URL"}},
        {"imageUrl": "URL", "data": {"imageUrl": "OTHER", "media_url": "OTHER"}},
        {"data": {"notification": {"image": "URL"}, "media_url": "OTHER", "fcm_options": {"image": NOT_ONE}}},
    ],
)
def test_the_first_valid_address_wins_wherever_it_stands(gallery: House, web: Web, push: Object) -> None:
    place = f"png/{time.monotonic_ns()}"
    text = json.dumps(push).replace("OTHER", web.url("status/500")).replace("URL", web.url(place))
    pushed = gallery.push("Picture", **json.loads(text))
    image = image_of(gallery, pushed)
    assert image is not None and decoded(image["path"]) == (4, 3)
    # The alert may be shown before the server's line about the request is read.
    wait_until(lambda: f"/{place}" in web.requests)
    assert [path for path in web.requests if path.endswith(place)] == [f"/{place}"]


def test_names_in_an_address_name_no_file(gallery: House, web: Web, tmp_path: Path) -> None:
    paths = [
        "png/%2F..%2F..%2Fetc%2Fpasswd",
        "png/..%2f..%2fx.svg",
        "png/x.html?a=/../../b.gif",
        "png/%00.exe",
        "untyped",
    ]
    for number, path in enumerate(paths):
        image = image_of(gallery, gallery.push(f"Name {number}", imageUrl=web.url(path)))
        assert image is not None, path
        file = Path(image["path"])
        assert file.parent == tmp_path / "device/images" and file.suffix == ".png"
        assert set(file.stem) <= set("0123456789abcdef"), file
    assert len(list((tmp_path / "device/images").iterdir())) == len(paths)
    assert not (tmp_path / "device/etc").exists()
    shown_once(gallery, *(f"Name {number}" for number in range(len(paths))))


# What is refused


def test_each_rule_that_is_broken_leaves_the_text_and_says_why(gallery: House, web: Web, tmp_path: Path) -> None:
    rules = {
        "plain http": (web.url("png", scheme="http", at="plain"), "not_https"),
        "no address": ("https://user@[::1", "bad_url"),
        "a file": ("file:///etc/passwd", "not_https"),
        "a loopback address": (web.url("png", host="127.0.0.1"), "refused_address"),
        "a name that leads there": (web.url("png", host="localhost"), "refused_address"),
        "a mapped address": (web.url("png", host="[::ffff:127.0.0.1]"), "refused_address"),
        "a private address": ("https://10.0.0.1/x.png", "refused_address"),
        "a link-local address": ("https://169.254.169.254/latest", "refused_address"),
        "a redirect to http": (web.url("to/=" + web.url("png", scheme="http", at="plain")), "redirect_refused"),
        "a redirect to loopback": (web.url("to/=" + web.url("png", host="127.0.0.1")), "refused_address"),
        "a redirect to such a name": (web.url("to/=" + web.url("png", host="localhost")), "refused_address"),
        "a loop": (web.url("loop"), "redirect_refused"),
        "404": (web.url("status/404"), "status_404"),
        "a lying header": (web.url("lying"), "not_an_image"),
        "another type": (web.url("typed/text/html"), "not_an_image"),
        "an SVG": (web.url("svg"), "not_an_image"),
        "a bomb": (web.url("bomb"), "too_many_pixels"),
        "an endless body": (web.url("endless"), "too_large"),
        "a cut body": (web.url("cut"), "interrupted"),
        "a stranger's certificate": (web.url("png", at="unknown"), "tls_failed"),
        "another's certificate": (web.url("png", at="elsewhere"), "tls_failed"),
    }
    before = len(web.said)
    pushed = {name: gallery.push(name, imageUrl=url) for name, (url, _) in rules.items()}
    found = {name: image_of(gallery, identity) for name, identity in pushed.items()}
    assert found == {name: {"error": error} for name, (_, error) in rules.items()}
    shown_once(gallery, *rules)
    for question in gallery.device.questions("present"):
        assert "image" not in question and question["alert"]["body"] == "Body"
    # What may not be connected to was not.
    assert [said for said in web.said[before:] if said.get("connected") not in (None, "127.0.0.2")] == []
    assert not (tmp_path / "device/images").exists() or list((tmp_path / "device/images").iterdir()) == []
    assert gallery.device.call("bw_alerts_state")["counters"]["imagesRefused"] == len(rules)


DAMAGED_GIFS = ("gif-empty", "gif-cut", "gif-unended", "gif-second-cut", "gif-short", "gif-code")
DAMAGED = ("png-header", "png-cut", "jpeg-cut", "webp-cut", *DAMAGED_GIFS)


def test_an_image_counts_only_once_it_has_been_decoded(gallery: House, web: Web, tmp_path: Path) -> None:
    names = ("jpeg", "webp", "gif", "gif-interlaced")
    whole = {name: gallery.push(name, imageUrl=web.url(f"image/{name}")) for name in names}
    damaged = {name: gallery.push(name, imageUrl=web.url(f"image/{name}")) for name in DAMAGED}
    large = {name: gallery.push(name, imageUrl=web.url(f"image/{name}")) for name in ("gif-1500", "gif-pixels")}
    for name, identity in whole.items():
        image = image_of(gallery, identity)
        assert image is not None and list(image) == ["path"], (name, image)
    assert {name: image_of(gallery, identity) for name, identity in damaged.items()} == {
        name: {"error": "not_an_image"} for name in DAMAGED
    }
    assert image_of(gallery, large["gif-1500"]) == {"error": "too_many_frames"}
    assert image_of(gallery, large["gif-pixels"]) == {"error": "too_many_pixels"}
    assert len(list((tmp_path / "device/images").iterdir())) == len(whole)


DECODERS = {
    "libpng16.so.16": "png-cut",
    "libturbojpeg.so.0": "jpeg-cut",
    "libwebp.so.7": "webp-cut",
    "libgif.so.7": "gif-cut",
}


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root: it hides libraries from one process")
def test_without_a_library_only_the_header_of_an_image_is_checked(
    start: Start, relay: str, tmp_path: Path, web: Web
) -> None:
    known = subprocess.run(["ldconfig", "-p"], check=True, capture_output=True, text=True).stdout.splitlines()
    paths = [
        os.path.realpath(next(line.split(" => ")[1] for line in known if line.split()[0] == name)) for name in DECODERS
    ]
    hide = " && ".join(f"mount --bind /dev/null '{path}'" for path in paths) + ' && exec "$@"'

    def without(*command: str | Path) -> Program:
        return start("unshare", "--mount", "sh", "-c", hide, "sh", *command)

    house = House(without, relay, tmp_path, **options(web))
    house.authorize()
    for name in DECODERS.values():
        image = image_of(house, house.push(name, imageUrl=web.url(f"image/{name}")))
        assert image is not None and list(image) == ["path"], (name, image)
    empty = house.push("Without a frame", imageUrl=web.url("image/gif-empty"))
    assert image_of(house, empty) == {"error": "not_an_image"}
    house.device.close()
    house.desktop.close()


def test_an_image_goes_when_its_notification_is_deleted(gallery: House, web: Web, tmp_path: Path) -> None:
    def push(title: str, image: str) -> tuple[str, Path]:
        identity = gallery.push(title, imageUrl=web.url(image))
        found = image_of(gallery, identity)
        assert found is not None
        return identity, Path(found["path"])

    first, one = push("First", "png/a")
    second, other = push("Second", "png/b")
    third, same = push("Third", "png/b")
    assert one != other == same
    # Answered and read: the inbox has them still, and may show the image.
    gallery.device.call("bw_alerts_respond", gallery.desktop.state["id"], first, "default", None)
    gallery.desktop.call("bw_desktop_invoke", "notification.markAllAsRead", {}, 5_000)
    wait_until(lambda: gallery.device.call("bw_alerts_delivered") == [])
    assert one.exists() and other.exists()
    for identity in (first, second):
        gallery.desktop.call("bw_desktop_invoke", "notification.delete", {"notificationId": identity}, 5_000)
    wait_until(lambda: not one.exists())
    assert other.exists(), "another notification has the same image"
    gallery.desktop.call("bw_desktop_invoke", "notification.delete", {"notificationId": third}, 5_000)
    wait_until(lambda: not other.exists())


@pytest.mark.parametrize("path", ["stalled", "silent", "dripping"])
def test_what_stalls_holds_the_text_back_for_its_time_alone(
    start: Start, relay: str, tmp_path: Path, web: Web, path: str
) -> None:
    house = House(start, relay, tmp_path, **options(web, timeout_ms=400))
    house.authorize()
    titles = (f"Stalled {number}" for number in itertools.count())

    def push() -> float:
        title = next(titles)
        begun, asked = time.monotonic(), len(house.device.questions("present"))
        pushed = house.push(title, imageUrl=web.url(path))
        # It is in the inbox, and in the program's hands, at once.
        assert house.device.event("notification.received", title=title)["id"] == pushed
        assert len(house.device.questions("present")) == asked
        assert image_of(house, pushed) == {"error": "timeout"}
        taken = time.monotonic() - begun
        assert taken >= 0.4
        shown_once(house, title)
        return taken

    fastest(push, 5)
    house.device.close()
    house.desktop.close()


def test_pictures_that_stall_hold_up_no_other_alert(start: Start, relay: str, tmp_path: Path, web: Web) -> None:
    house = House(start, relay, tmp_path, **options(web, timeout_ms=1_500))
    house.authorize()
    # More than are fetched at once.
    stalled = [house.push(f"Stalled {number}", imageUrl=web.url("stalled")) for number in range(6)]
    pictures = [house.push(f"Picture {number}", imageUrl=web.url("png")) for number in range(3)]
    plain = house.push("Plain")
    assert image_of(house, plain) is None
    assert all(presented(house, each) == [] for each in stalled)
    assert [image_of(house, each) for each in stalled] == [{"error": "timeout"}] * 6
    for each in pictures:
        image = image_of(house, each)
        assert image is not None and decoded(image["path"]) == (4, 3)
    shown_once(house, "Plain", *(f"Stalled {n}" for n in range(6)), *(f"Picture {n}" for n in range(3)))
    house.device.close()
    house.desktop.close()


def test_what_is_read_while_its_image_comes_is_not_shown(gallery: House, web: Web) -> None:
    pushed = gallery.push("Read meanwhile", imageUrl=web.url("stalled"))
    gallery.device.event("notification.received", title="Read meanwhile")
    gallery.desktop.call("bw_desktop_invoke", "notification.markAsRead", {"notificationId": pushed}, 5_000)
    assert gallery.presented(pushed) == {"id": pushed, "presented": False, "reason": "removed"}
    assert gallery.device.questions("present") == []


@pytest.mark.parametrize("how", ["disabled", "in memory"])
def test_without_images_nothing_is_fetched(start: Start, relay: str, tmp_path: Path, web: Web, how: str) -> None:
    more = {"state_dir": ":memory:"} if how == "in memory" else {}
    house = House(start, relay, tmp_path, **{**options(web, enabled=how != "disabled"), **more})
    house.authorize()
    place = f"png/{time.monotonic_ns()}"
    assert image_of(house, house.push("Text", imageUrl=web.url(place))) is None
    assert f"/{place}" not in web.requests
    house.device.close()
    house.desktop.close()


def test_a_place_that_cannot_be_written_to_leaves_the_text(gallery: House, web: Web, tmp_path: Path) -> None:
    (tmp_path / "device/images").write_text("in the way")
    assert image_of(gallery, gallery.push("Text", imageUrl=web.url("png"))) == {"error": "not_kept"}
    shown_once(gallery, "Text")


# Push services


@pytest.mark.parametrize(
    ("payload", "fetches"),
    [
        ({"aps": {"alert": "A", "mutable-content": 1}, "imageUrl": "URL"}, True),
        ({"aps": {"alert": "A", "mutable-content": 1}, "data": {"fcm_options": {"image": "URL"}}}, True),
        ({"aps": {"alert": "A"}, "imageUrl": "URL"}, False),
        ({"aps": {"alert": "A"}, "media_url": "URL", "data": {"imageUrl": "URL"}}, False),
        ({"aps": {"alert": "A", "mutable-content": 0}, "fcm_options": {"image": "URL"}}, False),
        ({"notification": {"title": "A", "image": "URL"}}, True),
        ({"notification": {"title": "A"}, "fcm_options": {"image": "URL"}, "data": {"a": "b"}}, True),
        ({"message": {"notification": {"title": "A"}, "data": {"imageUrl": "URL"}}}, True),
    ],
)
def test_an_apns_payload_is_changed_only_when_it_allows_it(
    gallery: House, web: Web, payload: Object, fetches: bool
) -> None:
    place = f"png/{time.monotonic_ns()}"
    filled = json.loads(json.dumps(payload).replace("URL", web.url(place)))
    received = gallery.device.call("bw_device_receive", "service", filled)
    image = image_of(gallery, received["id"])
    assert (image is not None) is fetches, image
    assert web.requests.count(f"/{place}") == int(fetches)
    if image is not None:
        assert decoded(image["path"]) == (4, 3)


def test_texts_that_only_have_a_key_are_for_the_program(gallery: House) -> None:
    alert = {"title-loc-key": "GREETING", "loc-key": "TEXT %@", "loc-args": ["Ann"], "subtitle-loc-key": "SUB"}
    payload = {"aps": {"alert": alert}, "loc-args": ["x"], "data": {"aps": {"alert": "y"}, "loc-key": "z", "task": 7}}
    gallery.device.call("bw_device_receive", "apns", payload)
    said = gallery.device.event("notification.received")
    shown = gallery.shown("Device")["alert"]
    assert shown["body"] == "New notification" and "subtitle" not in shown
    localization = {
        "title": {"key": "GREETING"},
        "subtitle": {"key": "SUB"},
        "body": {"key": "TEXT %@", "args": ["Ann"]},
    }
    assert said["data"] == {"task": 7, "localization": localization} == shown["userInfo"]
    # A member of that name is a program's own business.
    own = {"aps": {"alert": {"title": "Words", "body": "B"}}, "data": {"localization": {"title": {"key": "de"}}}}
    gallery.device.call("bw_device_receive", "apns", own)
    shown = gallery.shown("Words")["alert"]
    assert shown["body"] == "B" and shown["userInfo"] == own["data"]
    notification = {"title": "From Ann", "body_loc_key": "TEXT", "body_loc_args": '["Bob"]'}
    gallery.device.call("bw_device_receive", "fcm", {"notification": notification, "data": {"aps": "{}", "task": "8"}})
    shown = gallery.shown("From Ann")["alert"]
    assert shown["body"] == "" and shown["userInfo"] == {
        "task": "8",
        "localization": {"body": {"key": "TEXT", "args": ["Bob"]}},
    }


def test_a_critical_sound_makes_it_urgent_and_sounds_may_have_dots(gallery: House) -> None:
    def shown(title: str, aps: Object) -> Object:
        gallery.device.call("bw_device_receive", "apns", {"aps": {"alert": {"title": title}, **aps}})
        alert: Object = gallery.shown(title)["alert"]
        return alert

    critical = {"critical": 1, "name": "bell", "volume": 1}
    assert shown("Critical", {"sound": critical})["level"] == "timeSensitive"
    assert shown("Said", {"sound": critical, "interruption-level": "active"})["level"] == "active"
    assert shown("Not", {"sound": {"critical": 0, "name": "bell"}})["level"] == "active"
    assert shown("Dotted", {"sound": "com.example.bell"})["sound"] == "com.example.bell"
    # No theme has the files of phone apps.
    assert shown("File", {"sound": "Chime.CAF"})["sound"] == "default"
    assert shown("Hidden", {"sound": ".bell"})["sound"] == "default"


def test_a_payload_with_a_bad_address_says_why(gallery: House) -> None:
    for payload in (
        {"notification": {"title": "A", "image": "http://127.0.0.2/x.png"}},
        {"aps": {"alert": "A", "mutable-content": 1}, "imageUrl": "http://127.0.0.2/x.png"},
    ):
        received = gallery.device.call("bw_device_receive", "service", payload)
        assert image_of(gallery, received["id"]) == {"error": "not_https"}


# Sealed texts


class Sealing:
    """What a desktop's push service seals to a device, made with libsodium from the two keys (WireSealing, "The seal")."""

    def __init__(self, home: Path, house: House) -> None:
        self.sodium = ctypes.CDLL("libsodium.so.23")
        assert self.sodium.sodium_init() >= 0
        self.desktop, self.device = house.desktop.state["id"], house.device.state["id"]
        #: 64 bytes: the seed and the public key.
        key = (home / "desktop/identity.key").read_bytes()
        peer = (home / "device/identity.key").read_bytes()[32:]
        self.secret, self.point = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
        assert self.sodium.crypto_sign_ed25519_sk_to_curve25519(self.secret, key) == 0
        assert self.sodium.crypto_sign_ed25519_pk_to_curve25519(self.point, peer) == 0

    def seal(self, text: str, **changes: str) -> Object:
        """{nonce, box}"""
        content = {"from": self.desktop, "to": self.device, "body": text, **changes}
        plain = json.dumps(content).encode()
        nonce = os.urandom(24)
        box = ctypes.create_string_buffer(len(plain) + 16)
        length = ctypes.c_ulonglong(len(plain))
        seal = self.sodium.crypto_box_curve25519xchacha20poly1305_easy
        assert seal(box, plain, length, nonce, self.point, self.secret) == 0
        return {"nonce": _text(nonce), "box": _text(box.raw)}


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def test_a_sealed_text_is_opened_with_the_keys_of_the_pairing(gallery: House, tmp_path: Path) -> None:
    sealing = Sealing(tmp_path, gallery)
    device = gallery.device
    texts: dict[str, str] = {}

    def receive(payload: Object) -> str:
        identity: str = device.call("bw_device_receive", "apns", payload)["id"]
        image_of(gallery, identity)
        (alert,) = [each["alert"] for each in device.questions("present") if each["alert"]["id"] == identity]
        texts[identity] = alert["body"]
        return identity

    def unopened() -> int:
        count: int = device.state["counters"]["unopenedBodies"]
        return count

    aps = {"alert": {"title": "Sealed", "body": "Something for you"}, "mutable-content": 1}
    assert texts[receive({"aps": aps, "encrypted_body": sealing.seal("Grüß Gott 👋")})] == "Grüß Gott 👋"
    named = {"aps": aps, "data": {"desktop": sealing.desktop, "encrypted_body": sealing.seal("Named")}}
    assert texts[receive(named)] == "Named"
    fcm = {"notification": {"title": "F", "body": "Something"}, "encrypted_body": sealing.seal("By FCM")}
    assert texts[receive(fcm)] == "By FCM"
    assert unopened() == 0
    # It is the desktop's own push, too, and the inbox has what was opened.
    pushed = gallery.push("Pushed", encrypted_body=sealing.seal("By the wire"))
    image_of(gallery, pushed)
    assert gallery.shown("Pushed")["alert"]["body"] == "By the wire"
    rows = {row["id"]: row["body"] for row in device.call("bw_inbox_load", None)["notifications"]}
    assert rows == {**texts, pushed: "By the wire"}
    # Without mutable-content it is not looked at.
    assert (
        texts[receive({"aps": {"alert": aps["alert"]}, "encrypted_body": sealing.seal("Not now")})]
        == "Something for you"
    )
    assert unopened() == 0


def test_a_forged_text_leaves_the_one_that_is_there(gallery: House, tmp_path: Path) -> None:
    sealing = Sealing(tmp_path, gallery)
    aps = {"alert": {"title": "Forged", "body": "Something for you"}, "mutable-content": 1}
    changed = sealing.seal("Changed")
    changed["box"] = changed["box"][:-4] + ("AAAA" if not changed["box"].endswith("AAAA") else "BBBB")
    forged = [
        changed,
        # Our own, handed back; and one that was meant for another.
        sealing.seal("Reflected", **{"from": sealing.device, "to": sealing.desktop}),
        sealing.seal("Redirected", to=sealing.desktop),
        {"nonce": changed["nonce"], "box": "short"},
        {"nonce": "", "box": changed["box"]},
        {},
    ]
    for number, body in enumerate(forged):
        received = gallery.device.call("bw_device_receive", "apns", {"aps": aps, "encrypted_body": body})
        image_of(gallery, received["id"])
        assert gallery.shown("Forged")["alert"]["body"] == "Something for you"
        (said,) = [each for each in gallery.device.of("notification.received") if each["id"] == received["id"]]
        assert said["encrypted_body"] == body and said["body"] == "Something for you"
        assert gallery.device.state["counters"]["unopenedBodies"] == number + 1
    assert len(gallery.device.questions("present")) == len(forged)
