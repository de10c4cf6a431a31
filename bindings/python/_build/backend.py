"""The PEP 517 backend: hatchling's, and the C libraries in the wheel.

The shared library comes from, in this order:

- the directory that the config setting ``stage`` or the environment variable BELLWIRE_STAGE names
  (``pip install ./bindings/python --config-settings stage=DIR``): it has lib/libbellwire.so.1;
- build/stage of the checkout, where bindings/c/build.sh has put it;
- bindings/c/build.sh, which is run; it takes Swift.

What it needs is put beside it, and so are the libraries for QR codes in pictures, which it loads on first use: the wheel
stands by itself on every Linux with the C library of its tag. libcurl, which fetches the images of alerts, is the
system's: it is a part of nearly every system, which keeps it safe, and it would bring thirty more libraries (Kerberos,
LDAP, RTMP). Where it is missing, an image that cannot be fetched says so. An editable install (``pip install -e``) has
no library inside.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePath
from typing import Any, Optional

from hatchling.build import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)
from hatchling.build import build_wheel as build_plain_wheel

sys.path.insert(0, str(Path(__file__).resolve().parent))
import inventory  # noqa: E402

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_wheel",
]

CHECKOUT = Path(__file__).resolve().parents[3]
SONAME = "libbellwire.so.1"
#: Loaded by name on first use: for pictures of QR codes. (libcurl and libsystemd are the machine's own.)
ON_FIRST_USE = ("libzbar.so.0", "libpng16.so.16", "libturbojpeg.so.0")
#: For TLS. The library loads it as well, but by way of this need, whatever name auditwheel gives it.
OPENSSL = "libssl.so.3"
#: The oldest C library that has the symbols that all of them need.
POLICY = "manylinux_2_34"

Settings = Optional[dict[str, Any]]


class BuildError(Exception):
    """What is wrong, and what to do."""


def say(text: str) -> None:
    print(f"bellwire: {text}", file=sys.stderr, flush=True)


def run(*command: str | Path) -> None:
    # What a build environment has installed is beside its interpreter, also when that was not activated.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    done = subprocess.run(
        [str(part) for part in command], env={**os.environ, "PATH": path}, stdout=sys.stderr, check=False
    )
    if done.returncode != 0:
        raise BuildError(f"{Path(command[0]).name} failed (status {done.returncode}); its output is above")


def find_library(settings: Settings) -> Path:
    """The shared library that goes into the wheel."""
    named = (settings or {}).get("stage") or os.environ.get("BELLWIRE_STAGE")
    if named:
        # A frontend has changed the directory; a relative name is meant from where its user is.
        library = Path(os.environ.get("PWD", CHECKOUT), named, "lib", SONAME)
        if not library.is_file():
            raise BuildError(f"{library} is not there; bindings/c/build.sh makes it, in build/stage of the checkout")
        return library
    library = CHECKOUT / "build/stage/lib" / SONAME
    if not library.is_file():
        script = CHECKOUT / "bindings/c/build.sh"
        if not script.is_file():
            raise BuildError(
                f"there is no {SONAME} and no checkout to build it in; name the directory that has lib/{SONAME} with "
                "BELLWIRE_STAGE or --config-settings stage=DIR"
            )
        say(f"there is no {library}: running {script}")
        run(script)
    return library


def system_libraries() -> dict[str, Path]:
    """Where this machine has its libraries, by their sonames."""
    tool = shutil.which("ldconfig", path=os.pathsep.join((os.environ.get("PATH", os.defpath), "/sbin", "/usr/sbin")))
    if tool is None:
        raise BuildError("there is no ldconfig; it is a part of the C library")
    listed = subprocess.run([tool, "-p"], check=True, capture_output=True, text=True).stdout
    # The wide ones first, and of each the first is the one that the loader takes.
    found: dict[str, Path] = {}
    for name, kind, path in re.findall(r"^\s+(\S+) \(([^)]*)\) => (\S+)$", listed, re.MULTILINE):
        if (sys.maxsize < 2**32 or "64" in kind):
            found.setdefault(name, Path(path))
    return found


def gather(library: Path, directory: Path) -> None:
    """Puts the library and those that it loads on first use into the directory that becomes bellwire/_lib."""
    shutil.copyfile(library, directory / SONAME)
    found = system_libraries()
    for name in ON_FIRST_USE:
        if name in found:
            shutil.copyfile(found[name].resolve(), directory / name)
        else:
            say(f"this machine has no {name}: the wheel will use that of the machine it runs on, if there is one")
    for each in directory.iterdir():
        each.chmod(0o755)
    run("patchelf", "--add-needed", OPENSSL, directory / SONAME)
    # Where dlopen looks for them; auditwheel adds the place of what all of them need.
    run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN", directory / SONAME)


def take_inventory(wheel: Path, library: Path) -> None:
    """Adds the SBOM and the licences of everything inside: what the library has linked, and what auditwheel has put
    beside it."""
    known = library.parents[1] / "share/doc/bellwire"
    if not (known / "bellwire.spdx.json").is_file():
        raise BuildError(f"{known} has no bellwire.spdx.json; run bindings/c/build.sh again")
    inside = [
        inventory.Component(
            part["name"], part["versionInfo"], part["licenseDeclared"], known / "licences" / f"{part['name']}.txt"
        )
        for part in json.loads((known / "bellwire.spdx.json").read_text())["packages"][1:]
    ]
    system = system_libraries()
    system = {**{path.resolve().name: path for path in system.values()}, **system}
    with zipfile.ZipFile(wheel) as archive:
        members = {each: archive.read(each) for each in archive.infolist()}
    shipped = {PurePath(each.filename).name for each in members if ".so" in each.filename} - {SONAME}
    # auditwheel puts a hash into each name.
    names = sorted({re.sub(r"-[0-9a-f]{8}(?=\.so|-|\.)", "", name) for name in shipped})
    try:
        gathered = inventory.components([system[name] for name in names], CHECKOUT / "build")
        parts = {part.name: part for part in [*inside, *gathered]}
        (info,) = {each.filename.partition("/")[0] for each in members if ".dist-info/" in each.filename}
        version = info.removesuffix(".dist-info").partition("-")[2]
        with tempfile.TemporaryDirectory(prefix="bellwire-inventory-") as name:
            output = Path(name)
            epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
            inventory.write("bellwire", version, [parts[each] for each in sorted(parts)], output, epoch)
            added = {f"{info}/sboms/bellwire.spdx.json": (output / "bellwire.spdx.json").read_bytes()}
            for text in sorted((output / "licences").iterdir()):
                added[f"{info}/licenses/{text.name}"] = text.read_bytes()
    except (inventory.Unknown, OSError, KeyError) as error:
        raise BuildError(f"cannot tell what is inside: {error}") from error
    if (CHECKOUT / "LICENSE").is_file():
        added[f"{info}/licenses/LICENSE"] = (CHECKOUT / "LICENSE").read_bytes()
    lines = b""
    for path, data in added.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines += f"{path},sha256={digest},{len(data)}\n".encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in added.items():
            entry = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
        for member, data in members.items():
            archive.writestr(member, data.rstrip(b"\n") + b"\n" + lines if member.filename.endswith("/RECORD") else data)


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Settings = None) -> str:
    """Without the libraries: a frontend that asks for this would else have them gathered twice."""
    with tempfile.TemporaryDirectory(prefix="bellwire-metadata-") as name:
        wheel = build_plain_wheel(name, config_settings)
        with zipfile.ZipFile(Path(name) / wheel) as archive:
            members = [each for each in archive.namelist() if ".dist-info/" in each and not each.endswith("/RECORD")]
            archive.extractall(metadata_directory, members)
    return members[0].partition("/")[0]


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: Optional[str] = None
) -> str:
    try:
        with tempfile.TemporaryDirectory(prefix="bellwire-wheel-") as name:
            temporary = Path(name)
            libraries, plain, repaired = (temporary / part for part in ("libraries", "plain", "repaired"))
            for each in (libraries, plain, repaired):
                each.mkdir()
            gather(find_library(config_settings), libraries)
            # Read by hook.py.
            os.environ["BELLWIRE_WHEEL_LIBRARIES"] = str(libraries)
            try:
                wheel = build_plain_wheel(str(plain), config_settings, metadata_directory)
            finally:
                del os.environ["BELLWIRE_WHEEL_LIBRARIES"]
            tag = f"{POLICY}_{platform.machine()}"
            run(sys.executable, "-m", "auditwheel", "repair", "--plat", tag, "-w", repaired, plain / wheel)
            (result,) = repaired.glob("*.whl")
            take_inventory(result, find_library(config_settings))
            shutil.copyfile(result, Path(wheel_directory) / result.name)
            return result.name
    except BuildError as error:
        say(str(error))
        sys.exit(1)
