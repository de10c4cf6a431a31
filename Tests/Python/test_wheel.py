"""The wheel stands by itself: in a fresh environment, without what the library needs on this machine."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import bellwire
import pytest
from conftest import ROOT, SITE, STAGE

#: What the library links, and what it loads on first use.
NEEDED = [
    "libjansson",
    "libuv",
    "libwslay",
    "libhttp_parser",
    "libsodium",
    "libsqlite3",
    "libqrencode",
    "libssl",
    "libcrypto",
]
ON_FIRST_USE = ["libzbar.so.0", "libpng16.so.16", "libturbojpeg.so.0"]

#: What only libcurl would bring, which is the system's.
NOT_INSIDE = ["libcurl", "libkrb5", "libgssapi", "libldap", "liblber", "librtmp", "libssh2", "libnghttp2", "libgnutls"]

#: What is taken away from the machine: all of these, by their names on it.
HIDDEN = [
    *NEEDED,
    *[
        "libcurl",
        "libzbar",
        "libpng16",
        "libturbojpeg",
        "libjpeg",
        "libnghttp2",
        "libssh2",
        "libldap",
        "libgnutls",
        "libidn2",
        "libv4l2",
        "libdbus-1",
    ],
]

# Pairs, pushes, draws and reads; then tells which libraries it has.
PROGRAM = """
import re, sys, tempfile
from pathlib import Path
import bellwire
with bellwire.Relay(listen="127.0.0.1:0") as relay:
    relay.start()
    url = f"ws://127.0.0.1:{relay.state().port}"
    with bellwire.Desktop(state_dir=":memory:", relay_url=url, follow_system=False) as desktop:
        with bellwire.Device(state_dir=":memory:", follow_system=False) as device:
            device.scan(desktop.offer().payload)
            device.wait_online()
            desktop.notify("hello")
            assert next(device.pushes(timeout=10)).title == "hello"
            assert device.send("t").success
picture = Path(tempfile.mkdtemp()) / "code.png"
picture.write_bytes(bellwire.qr.png("read me"))
assert bellwire.qr.read(picture) == ("read me",)
for line in sorted(set(re.findall(r"/\\S+\\.so[.\\d]*$", Path("/proc/self/maps").read_text(), re.M))):
    print(line)
"""


def test_it_is_for_every_python_3_on_this_platform_and_has_all_inside(wheel: Path) -> None:
    assert wheel.name == f"bellwire-{bellwire.__version__}-py3-none-manylinux_2_34_{platform.machine()}.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(f"bellwire-{bellwire.__version__}.dist-info/METADATA").decode()
        said = archive.read(f"bellwire-{bellwire.__version__}.dist-info/WHEEL").decode()
    assert "Requires-Python: >=3.9" in metadata and "Requires-Dist" not in metadata
    assert "Root-Is-Purelib: false" in said
    assert {"bellwire/py.typed", "bellwire/_lib/libbellwire.so.1", "bellwire/__main__.py"} <= set(names)
    for library in NEEDED:
        assert any(name.startswith(f"bellwire.libs/{library}-") for name in names), library
    # bindings/c/packages.sh installs them for the tests.
    for library in ON_FIRST_USE:
        assert f"bellwire/_lib/{library}" in names, library
    for library in NOT_INSIDE:
        assert not [name for name in names if Path(name).name.startswith(library)], library


def test_no_library_in_it_needs_a_newer_c_library_than_its_tag_says(wheel: Path, tmp_path: Path) -> None:
    """By symbol versions; auditwheel does not know what relocations need: packed ones are DT_RELR, of glibc 2.36."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    libraries = [path for path in tmp_path.rglob("*.so*") if path.is_file()]
    assert len(libraries) > len(NEEDED)
    for library in libraries:
        said = subprocess.run(["readelf", "-dVW", library], capture_output=True, text=True, check=True).stdout
        versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_(\d[\d.]*)", said)}
        assert versions and max(versions) <= (2, 34), (library.name, max(versions))
        assert "(RELR)" not in said, library.name


def test_tls_is_that_of_the_wheel(fresh: Path) -> None:
    """A connection to a port that does not speak TLS fails by the OpenSSL inside, not for want of one."""
    program = """
import re, socket
from pathlib import Path
import bellwire
with socket.create_server(("127.0.0.1", 0)) as server:
    url = f"wss://127.0.0.1:{server.getsockname()[1]}"
    with bellwire.Desktop(state_dir=":memory:", relay_url=url, follow_system=False) as desktop:
        desktop.start()
        server.settimeout(20)
        connection, _ = server.accept()
        with connection:
            assert connection.recv(1) == b"\\x16", "no handshake of TLS"
for line in sorted(set(re.findall(r"/\\S+\\.so[.\\d]*$", Path("/proc/self/maps").read_text(), re.M))):
    print(line)
"""
    done = run_fresh([fresh, "-I", "-c", program])
    assert done.returncode == 0, done.stderr
    for name in ("libssl", "libcrypto"):
        assert [each for each in loaded(done.stdout) if each.startswith(f"{name}-")], done.stdout


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new virtual environment that has the wheel and nothing else."""
    venv = tmp_path_factory.mktemp("fresh") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=120)
    found = subprocess.run(
        [venv / "bin/python", "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "install", "--no-index"]
    subprocess.run([*command, "--target", found, str(wheel)], check=True, timeout=120)
    return venv / "bin/python"


def run_fresh(command: list[str | Path], **environment: str) -> subprocess.CompletedProcess[str]:
    path = "/usr/bin:/bin"
    return subprocess.run(
        [str(part) for part in command],
        env={"PATH": path, "HOME": "/nonexistent", **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def loaded(output: str) -> dict[str, str]:
    """Name: path, of the libraries that a program has."""
    return {Path(line).name: line for line in output.splitlines()}


def test_in_a_fresh_environment_it_uses_its_own_libraries_alone(fresh: Path) -> None:
    done = run_fresh([fresh, "-I", "-W", "error", "-c", PROGRAM])
    assert done.returncode == 0, done.stderr
    libraries = loaded(done.stdout)
    for name in [*NEEDED, "libzbar", "libpng16"]:
        found = [path for each, path in libraries.items() if each.startswith(name)]
        ours = [path for path in found if path.startswith(f"{fresh.parent.parent}/")]
        # asyncio imports the interpreter's own ssl module, which has the system's OpenSSL.
        assert ours and (ours == found or name in ("libssl", "libcrypto")), (name, found)


def test_it_runs_where_the_machine_has_none_of_them(fresh: Path, tmp_path: Path) -> None:
    """In a mount namespace of its own, in which every library that the wheel carries is an empty file for the rest."""
    if os.geteuid() != 0:
        pytest.skip("needs root for a mount namespace")
    empty = tmp_path / "empty"
    empty.touch()
    hidden = [
        path
        for directory in ("/usr/lib", "/usr/local/lib", "/lib")
        for path in Path(directory).rglob("*.so*")
        if path.is_file() and not path.is_symlink() and any(path.name.startswith(f"{name}.so") for name in HIDDEN)
    ]
    assert len(hidden) >= len(NEEDED)
    script = "".join(f"mount --bind '{empty}' '{path}'\n" for path in hidden)
    gone = """
import ctypes
try:
    ctypes.CDLL("libjansson.so.4")
except OSError:
    pass
else:
    raise SystemExit("it is not hidden")
"""
    done = run_fresh(
        [
            "unshare",
            "--mount",
            "sh",
            "-euc",
            script + 'exec "$@"',
            "sh",
            fresh,
            "-I",
            "-W",
            "error",
            "-c",
            gone + PROGRAM,
        ]
    )
    assert done.returncode == 0, done.stderr


def test_libraries_of_first_use_are_found_beside_it(fresh: Path) -> None:
    """They are loaded by their names, from beside our library."""
    program = f"""
import ctypes, re, sys
from pathlib import Path
import bellwire
bellwire.version()
directory = Path(bellwire.__file__).parent / "_lib"
for name in {ON_FIRST_USE}:
    ctypes.CDLL(str(directory / name))
mapped = Path("/proc/self/maps").read_text()
for name in {ON_FIRST_USE}:
    assert str(directory / name) in mapped, name
"""
    done = run_fresh([fresh, "-I", "-c", program])
    assert done.returncode == 0, done.stderr
    dynamic = subprocess.run(
        ["readelf", "-d", SITE / "bellwire/_lib/libbellwire.so.1"], capture_output=True, text=True, check=True
    ).stdout
    runpath = re.search(r"R(?:UN)?PATH\).*\[(.*)\]", dynamic)
    assert runpath and "$ORIGIN" in runpath.group(1).split(":")


def test_it_says_what_is_inside_and_under_which_licences() -> None:
    (info,) = SITE.glob("bellwire-*.dist-info")
    document = json.loads((info / "sboms/bellwire.spdx.json").read_text())
    own, *parts = document["packages"]
    assert (own["name"], own["versionInfo"]) == ("bellwire", bellwire.version())
    inside = {"gcc", "swift", "jansson", "libuv1", "openssl", "libsodium", "sqlite3", "qrencode", "zbar", "libpng1.6"}
    assert {part["name"] for part in parts} >= inside
    for part in parts:
        assert part["licenseDeclared"] != "NOASSERTION", part
        assert (info / "licenses" / f"{part['name']}.txt").stat().st_size > 500, part["name"]
    assert "MIT License" in (info / "licenses/LICENSE").read_text()
    # Each library that came along is named, and nothing else was put beside ours.
    files = [name for part in parts for name in part.get("comment", "").removeprefix("inside: ").split(", ")]
    named = {name.partition(".so")[0] for name in [*files, "libbellwire.so.1"]}
    shipped = [path.name for folder in ("bellwire/_lib", "bellwire.libs") for path in (SITE / folder).iterdir()]
    assert len(shipped) > len(NEEDED)
    for name in shipped:
        assert re.sub(r"-[0-9a-f]{8}$", "", name.partition(".so")[0]) in named, name


def test_without_a_library_the_build_says_what_to_do(tmp_path: Path) -> None:
    """As from a source distribution: no checkout around it."""
    shutil.copytree(ROOT / "bindings/python", tmp_path / "alone/bindings/python")
    program = """
import sys
sys.path.insert(0, sys.argv[1])
import backend
try:
    backend.find_library(None)
except backend.BuildError as error:
    print(error)
try:
    backend.find_library({"stage": "/nowhere"})
except backend.BuildError as error:
    print(error)
"""
    hatchling = tmp_path / "stub/hatchling"
    hatchling.mkdir(parents=True)
    (hatchling / "__init__.py").touch()
    names = "build_editable build_sdist build_wheel get_requires_for_build_editable get_requires_for_build_sdist"
    (hatchling / "build.py").write_text(
        "".join(f"{name} = None\n" for name in [*names.split(), "get_requires_for_build_wheel"])
    )
    environment = {name: value for name, value in os.environ.items() if name != "BELLWIRE_STAGE"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "alone/bindings/python/_build")],
        env={**environment, "PYTHONPATH": str(hatchling.parent)},
        capture_output=True,
        text=True,
        check=True,
        timeout=40,
    )
    first, second = done.stdout.splitlines()
    assert "BELLWIRE_STAGE" in first and "--config-settings stage=DIR" in first
    assert "/nowhere/lib/libbellwire.so.1 is not there" in second
    assert STAGE.exists()
