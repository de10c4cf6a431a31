"""A web server with everything that a bad one does. Ends when its input does.

    web.py

Makes an authority and certificates in a temporary directory, listens, and prints {"ready": {...}} with its ports and the
authority's file; then {"connected": address} for each connection that was taken and {"request": path, "headers": {...}}
for each request. To a line of its input it says {"quiet": line} as soon as no connection is left: all was said before.
"""

import base64
import gzip
import json
import os
import random
import select
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import zlib

warnings.simplefilter("ignore", DeprecationWarning)

lock = threading.Lock()


def say(**line: object) -> None:
    with lock:
        print(json.dumps(line), flush=True)


# MARK: Certificates


def openssl(directory: str, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)


def authority(directory: str, name: str) -> None:
    openssl(
        directory,
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "30",
        "-subj",
        f"/CN=Test {name}",
        "-keyout",
        f"{name}.key",
        "-out",
        f"{name}.pem",
    )


def issue(directory: str, name: str, names: str, by: str = "ca", days: int = 30) -> None:
    openssl(
        directory,
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        f"/CN={name}",
        "-keyout",
        f"{name}.key",
        "-out",
        f"{name}.csr",
    )
    with open(os.path.join(directory, f"{name}.ext"), "w", encoding="ascii") as file:
        file.write(f"subjectAltName={names}\n")
    openssl(
        directory,
        "x509",
        "-req",
        "-in",
        f"{name}.csr",
        "-CA",
        f"{by}.pem",
        "-CAkey",
        f"{by}.key",
        "-set_serial",
        str(time.time_ns()),
        "-days",
        str(days),
        "-extfile",
        f"{name}.ext",
        "-out",
        f"{name}.pem",
    )


def context(directory: str, name: str) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(os.path.join(directory, f"{name}.pem"), os.path.join(directory, f"{name}.key"))
    return made


# MARK: Answers


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int) -> bytes:
    rows = zlib.compress(b"\0" * (width * 3 + 1) * height) if width * height < 1 << 20 else b""
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQ"
    "YEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAMABAD"
    "ASIAAhEBAxEB/8QAFwAAAwEAAAAAAAAAAAAAAAAAAAIEBv/EACEQAAIBAwMFAAAAAAAAAAAAAAECAAMSUQQRISMxMkFh/8QAFQEBAQAAAAAAAAAA"
    "AAAAAAAABAb/xAAaEQACAgMAAAAAAAAAAAAAAAABAgADBRUh/9oADAMBAAIRAxEAPwDMjU02JK7hgORmKarF772N3AGPkjqEmirnyzBT0nb2vaUm"
    "kqcAmNXLWN2f/9k="
)
WEBP = base64.b64decode(
    "UklGRoIAAABXRUJQVlA4IHYAAAAQAgCdASoQAAwAAgA0JbACdDiMwQT2FC8gAP7s0mTgYo3mLvG97m85QrvY+W7nnmXAsp5FHyreL+wIsj+b5teQ"
    "ITM843EAye78tbj/Oz95vCjJ/Bgv/71PVY/yl3MUm/+WsvBPjXp/9HWG+no6dgWVK0T8RwAA"
)


def gif(frames: int, pixels: str = "03848f5600", width: int = 4, height: int = 3, flags: str = "00") -> bytes:
    """One color all over; `pixels` are a frame's blocks, in hexadecimal."""
    frame = bytes.fromhex("21f904000a0000002c00000000") + struct.pack("<HH", width, height)
    frame += bytes.fromhex(flags + "02" + pixels)
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes.fromhex("f00000ff0000000000") + frame * frames + b";"


def damaged(name: str) -> bytes:
    """Images whose header alone is sound, and a sound one of each kind."""
    return {
        "jpeg": JPEG,
        "webp": WEBP,
        "png-header": png(4, 3)[:33] + chunk(b"IEND", b""),
        "png-cut": png(40, 30)[:60],
        "jpeg-cut": JPEG[:-30],
        "webp-cut": WEBP[:-40],
        "gif-empty": gif(0),
        "gif": gif(2),
        # Interlaced, with two colors of its own.
        "gif-interlaced": gif(2, flags="c0000000ffffff"),
        "gif-cut": gif(2)[:-4],
        "gif-unended": gif(2)[:-1],
        # Only the first frame is whole.
        "gif-second-cut": gif(1)[:-1] + gif(1, "0184")[13 + 6 :],
        # Clear, and the end of the codes.
        "gif-short": gif(1, "012c00"),
        # Clear, and a code that nothing stands for.
        "gif-code": gif(1, "023c0000"),
        "gif-1500": gif(1_500),
        "gif-pixels": gif(6, width=7_000, height=7_000),
    }[name]


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>fetch("http://127.0.0.1/")</script></svg>'


def whole(body: bytes, kind: str | None = "image/png", status: str = "200 OK", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{more}"
    if kind is not None:
        head += f"Content-Type: {kind}\r\n"
    return head.encode() + b"\r\n" + body


def redirect(place: str, status: str = "302 Found") -> bytes:
    return f"HTTP/1.1 {status}\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode()


def forever(stream: socket.socket, data: bytes) -> None:
    while True:
        stream.sendall(data)


def stall(stream: socket.socket) -> None:
    """Says nothing more until the other end has gone."""
    stream.settimeout(30)
    while stream.recv(4096):
        pass


def answer(stream: socket.socket, path: str, ports: dict[str, int]) -> None:
    """What the path asks for; its first part is the name, the second what it is about."""
    _, name, *rest = path.split("/", 2)
    about = rest[0] if rest else ""
    secure = f"https://127.0.0.2:{ports['secure']}"
    if name == "png":
        stream.sendall(whole(png(4, 3)))
    elif name == "image":
        stream.sendall(whole(damaged(about), "image/" + about.split("-")[0]))
    elif name == "untyped":
        stream.sendall(whole(png(4, 3), None))
    elif name == "typed":
        stream.sendall(whole(png(4, 3), about))
    elif name == "size":
        stream.sendall(whole(b"x" * int(about)))
    elif name == "lying":
        stream.sendall(whole(SVG))
    elif name == "svg":
        stream.sendall(whole(SVG, "image/svg+xml"))
    elif name == "bomb":
        stream.sendall(whole(png(60_000, 60_000)))
    elif name == "zipped":
        # 64 MiB in parts: packing them as one takes seconds on a busy machine.
        stream.sendall(whole(gzip.compress(bytes(1 << 20)) * 64, more="Content-Encoding: gzip\r\n"))
    elif name == "status":
        stream.sendall(whole(b"x" * 100, "text/html", f"{about} Status"))
    elif name == "endless-error":
        stream.sendall(b"HTTP/1.1 500 No\r\n\r\n")
        forever(stream, b"x" * 65536)
    elif name == "stalled-error":
        stream.sendall(b"HTTP/1.1 404 No\r\nContent-Length: 10\r\n\r\n")
        stall(stream)
    elif name == "to":
        stream.sendall(redirect(path.split("=", 1)[1]))
    elif name == "moved":
        stream.sendall(redirect(f"{secure}/png", about))
    elif name == "relative":
        stream.sendall(redirect("../png"))
    elif name == "hops":
        left = int(about)
        stream.sendall(redirect(f"/hops/{left - 1}" if left > 1 else "/png"))
    elif name == "loop":
        stream.sendall(redirect("/loop"))
    elif name == "nowhere":
        stream.sendall(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n")
    elif name == "endless-redirect":
        stream.sendall(b"HTTP/1.1 302 Found\r\nLocation: /png\r\n\r\n")
        forever(stream, b"x" * 65536)
    elif name == "silent":
        stall(stream)
    elif name == "stalled":
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 1000\r\n\r\n\x89PNG")
        stall(stream)
    elif name == "dripping":
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
        while True:
            stream.sendall(b"x")
            time.sleep(0.02)
    elif name == "endless":
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
        forever(stream, b"x" * 65536)
    elif name == "endless-chunks":
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n")
        forever(stream, b"8000\r\n" + b"x" * 0x8000 + b"\r\n")
    elif name == "boasting":
        stream.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {1 << 50}\r\n\r\n".encode())
        stall(stream)
    elif name == "endless-head":
        stream.sendall(b"HTTP/1.1 200 OK\r\n")
        forever(stream, b"X-Filler: " + b"x" * 1000 + b"\r\n")
    elif name == "endless-line":
        stream.sendall(b"HTTP/1.1 200 OK\r\nX-Filler: ")
        forever(stream, b"x" * 65536)
    elif name == "endless-continue":
        forever(stream, b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
    elif name == "cut":
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort")
    elif name == "nothing":
        pass
    elif name == "garbage":
        stream.sendall(b"\0\1\2 no HTTP at all\r\n\r\n")
    elif name == "cookie":
        stream.sendall(redirect("/png", "302 Found\r\nSet-Cookie: id=1; Path=/"))
    elif name == "demanding":
        stream.sendall(whole(b"", "text/html", "401 Unauthorized", 'WWW-Authenticate: Basic realm="x"\r\n'))
    elif name == "random":
        chance = random.Random(int(about))
        lines = [
            b"HTTP/1.1 200 OK",
            b"HTTP/1.1 302 Found",
            b"HTTP/1.1 99999999999 X",
            b"HTTP/0.9",
            b"Location: /png",
            b"Location:",
            b"Location: \0",
            b"Location: http://[::1",
            b"location : x",
            b"Content-Length: -1",
            b"Content-Length: 99999999999999999999",
            b"Content-Length: 5",
            b"Transfer-Encoding: chunked, gzip",
            b"Transfer-Encoding: chunked",
            b"Content-Type: \xff\xfe",
            b"Content-Encoding: br",
            b": empty",
            b" folded",
            b"Connection: upgrade",
            b"Upgrade: h2c",
            b"Set-Cookie: a=b; Domain=.",
            b'Alt-Svc: h3=":1"',
            b"Strict-Transport-Security: max-age=9",
            b"\0",
            b"",
            b"ffffffffffffffff",
            b"5",
            b"hello",
            b"0",
        ]
        text = b"\r\n".join(chance.choice(lines) for _ in range(chance.randrange(1, 16)))
        if chance.random() < 0.8:
            text = chance.choice(lines[:2]) + b"\r\n" + text + b"\r\n\r\n" + text
        stream.sendall(text)
    elif name == "trailer":
        stream.sendall(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Location\r\n\r\n3\r\nabc\r\n0\r\n"
            b"Location: http://127.0.0.1/\r\n\r\n"
        )
    else:
        stream.sendall(whole(b"no such page", "text/plain", "404 Not Found"))


# MARK: Listening

listeners: list[socket.socket] = []
#: Connections that were taken and have not ended. Told of each change.
open_connections: set[socket.socket] = set()
changed = threading.Condition()


def wait_for_quiet() -> None:
    with changed:
        # What waits to be taken will be: whoever takes it needs the lock.
        while open_connections or select.select(listeners, [], [], 0)[0]:
            changed.wait()


def head(stream: socket.socket) -> str:
    text = b""
    while b"\r\n\r\n" not in text:
        more = stream.recv(4096)
        if not more:
            break
        text += more
    return text.decode("latin-1")


def serve(raw: socket.socket, tls: ssl.SSLContext | None, ports: dict[str, int]) -> None:
    stream = raw
    try:
        raw.settimeout(10)
        if tls:
            stream = tls.wrap_socket(raw, server_side=True)
        elif raw.recv(1, socket.MSG_PEEK) == b"\x16":
            raw.sendall(b"HTTP/1.1 400 This is no TLS\r\n\r\n")
            return
        lines = head(stream).split("\r\n")
        path = lines[0].split(" ")[1]
        headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        say(request=path, headers=headers)
        answer(stream, path, ports)
    except (OSError, IndexError, ValueError):
        pass
    finally:
        stream.close()
        with changed:
            open_connections.discard(raw)
            changed.notify()


def listen(address: str, tls: ssl.SSLContext | None, ports: dict[str, int], port: int = 0) -> int:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(64)
    listeners.append(listener)

    def accept() -> None:
        while True:
            select.select([listener], [], [])
            with changed:
                stream, _ = listener.accept()
                open_connections.add(stream)
                changed.notify()
            say(connected=address)
            threading.Thread(target=serve, args=(stream, tls, ports), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return int(listener.getsockname()[1])


def main() -> None:
    directory = tempfile.mkdtemp(prefix="bellwire-web-")
    try:
        authority(directory, "ca")
        authority(directory, "stranger")
        issue(directory, "good", "IP:127.0.0.1,IP:127.0.0.2,IP:::1,DNS:image.test,DNS:localhost")
        issue(directory, "elsewhere", "DNS:elsewhere.test")
        issue(directory, "unknown", "IP:127.0.0.2", by="stranger")
        issue(directory, "expired", "IP:127.0.0.2", days=-1)
        ports: dict[str, int] = {}
        good = context(directory, "good")
        ports["secure"] = listen("127.0.0.2", good, ports)
        # The same port on the address that may not be connected to.
        listen("127.0.0.1", good, ports, ports["secure"])
        if os.path.exists("/proc/net/if_inet6"):
            try:
                listen("::1", good, ports, ports["secure"])
            except OSError:
                pass
        ports["plain"] = listen("127.0.0.2", None, ports)
        for name in ("elsewhere", "unknown", "expired"):
            ports[name] = listen("127.0.0.2", context(directory, name), ports)
        old = context(directory, "good")
        old.set_ciphers("DEFAULT:@SECLEVEL=0")
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        ports["old"] = listen("127.0.0.2", old, ports)
        say(ready={**ports, "authority": os.path.join(directory, "ca.pem")})
        for line in sys.stdin:
            wait_for_quiet()
            say(quiet=line.strip())
    finally:
        shutil.rmtree(directory, ignore_errors=True)


main()
