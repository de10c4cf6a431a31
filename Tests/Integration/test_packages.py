"""Installing as people do: install.sh into a prefix and away again, and the Debian packages, built, looked at, and
installed and purged for real in a copy of this machine that is thrown away."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from certificates import Authority
from installed_pages import broken_links
from peers import Peer
from programs import ROOT, STAGE, Program, wait_until
from throwaway import ThrowawayRoot, Unavailable

INSTALL = ROOT / "bindings/c/install.sh"
SYSTEMD = ROOT / "bindings/systemd"
HEADER = (STAGE / "include/bellwire.h").read_text()
VERSION = re.findall(r'^#define BW_VERSION "(.*)"$', HEADER, re.MULTILINE)[0]
TRIPLET = subprocess.run(
    ["dpkg-architecture", "-qDEB_HOST_MULTIARCH"], check=True, capture_output=True, text=True
).stdout.strip()
PACKAGES = ("libbellwire1", "libbellwire-dev", "python3-bellwire", "bellwire", "bellwire-tray")
#: Nothing of Swift, and nothing of ours.
BARE = {"PATH": "/usr/bin:/bin"}

C_PROGRAM = """
#include <bellwire.h>
#include <stdio.h>

int main(void) {
    bw_device *device = NULL;
    if (bw_device_open("{\\"state_dir\\":\\":memory:\\"}", &device) < 0) return 1;
    puts(bw_version());
    return bw_device_close(device) < 0;
}
"""
PYTHON_PROGRAM = """
import bellwire, importlib.metadata
with bellwire.Device(state_dir=":memory:"):
    print(bellwire.__file__, bellwire.__version__, importlib.metadata.version("bellwire"))
"""


def run(*command: str | Path, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(word) for word in command],
        check=False,
        env={**BARE, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert not check or done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done


def install(*arguments: str | Path, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(INSTALL, *arguments, check=check, BELLWIRE_STAGE=str(STAGE), **environment)


def tree(directory: Path) -> dict[str, bytes]:
    """Everything below a directory, with contents."""
    return {
        str(path.relative_to(directory)): (
            os.readlink(path).encode() if path.is_symlink() else b"" if path.is_dir() else path.read_bytes()
        )
        for path in directory.rglob("*")
    }


def commands() -> list[str]:
    """What the command line knows, by its own list."""
    return run(STAGE / "bin/bellwire", "man", "--list").stdout.split()


# MARK: install.sh


def test_a_prefix_has_what_each_host_looks_for_and_can_be_moved(tmp_path: Path) -> None:
    """With spaces in the path, without Swift; what was installed is found by pkg-config after the tree has moved."""
    prefix = tmp_path / "pre fix"
    install("--prefix", prefix)
    manuals = ["bellwire.1", *(f"bellwire-{command}.1" for command in commands())]
    assert {"relay", "desktop", "listen", "send"} <= set(commands())
    for path in [
        "lib/libbellwire.so.1",
        "lib/libbellwire.a",
        "lib/pkgconfig/bellwire.pc",
        "lib/pkgconfig/bellwire-shared.pc",
        "lib/cmake/bellwire/bellwireConfig.cmake",
        "lib/cmake/bellwire/bellwireConfigVersion.cmake",
        "lib/systemd/system/bellwire-relay.service",
        "lib/systemd/system/bellwire-desktop@.service",
        "share/systemd/user/bellwire-desktop.service",
        "share/systemd/user/bellwire-agent.service",
        "share/bash-completion/completions/bellwire",
        "share/zsh/site-functions/_bellwire",
        "share/fish/vendor_completions.d/bellwire.fish",
        "share/doc/bellwire/README.md",
        "share/doc/bellwire/LICENSE",
        "share/doc/bellwire/documentation/Bellwire.md",
        "share/man/man3/bellwire.3",
        "share/man/man3/bw_device_open.3",
        *(f"include/{header.name}" for header in (STAGE / "include").glob("*.h")),
        *(f"share/man/man1/{manual}" for manual in manuals),
    ]:
        assert (prefix / path).stat().st_size > 0, path
    assert os.readlink(prefix / "lib/libbellwire.so") == "libbellwire.so.1"
    assert run(prefix / "bin/bellwire", "--version").stdout == f"bellwire {VERSION}\n"

    moved = prefix.rename(tmp_path / "moved")
    (tmp_path / "app.c").write_text(C_PROGRAM)
    flags = run("pkg-config", "--cflags", "--libs", "bellwire", PKG_CONFIG_PATH=str(moved / "lib/pkgconfig")).stdout
    run("cc", tmp_path / "app.c", "-o", tmp_path / "app", *flags.split())
    assert run(tmp_path / "app", LD_LIBRARY_PATH=str(moved / "lib")).stdout == f"{VERSION}\n"


#: What is inside whatever we deliver in machine code: the runtimes, and in the archive two libraries more.
INSIDE = {"gcc", "jansson", "libuv1", "swift"}


def check_inventory(directory: Path) -> None:
    """An SBOM that names every part with a licence, whose text is there."""
    document = json.loads((directory / "bellwire.spdx.json").read_text())
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
    own, *parts = document["packages"]
    assert (own["name"], own["versionInfo"], own["licenseDeclared"]) == ("bellwire", VERSION, "MIT")
    assert {part["name"] for part in parts} >= INSIDE
    for part in parts:
        assert part["versionInfo"] not in ("", "NOASSERTION") and part["licenseDeclared"] != "NOASSERTION", part
        assert (directory / "licences" / f"{part['name']}.txt").stat().st_size > 500, part["name"]
    contained = {each["relatedSpdxElement"] for each in document["relationships"][1:]}
    assert contained == {part["SPDXID"] for part in parts}


def test_a_prefix_says_what_is_inside_and_under_which_licences(tmp_path: Path) -> None:
    install("--prefix", tmp_path)
    check_inventory(tmp_path / "share/doc/bellwire")


def test_the_shared_library_is_linked_without_what_the_static_one_takes(tmp_path: Path) -> None:
    """Where no development package of the libraries inside is, as after installing without what is recommended."""
    install("--prefix", tmp_path)
    alone = {"PKG_CONFIG_LIBDIR": str(tmp_path / "lib/pkgconfig"), "PKG_CONFIG_PATH": ""}
    flags = run("pkg-config", "--cflags", "--libs", "bellwire", **alone).stdout.split()
    assert flags[-1] == "-lbellwire" and not [flag for flag in flags if flag.startswith("-l") and flag != flags[-1]]
    (tmp_path / "app.c").write_text(C_PROGRAM)
    run("cc", tmp_path / "app.c", "-o", tmp_path / "app", *flags)
    static = run("pkg-config", "--static", "--libs", "bellwire", **alone).stdout.split()
    assert {"-lqrencode", "-lsodium", "-lsqlite3"} <= set(static)
    # OpenSSL is loaded with the first TLS connection.
    assert not {"-lssl", "-lcrypto"} & set(static)


def test_the_static_library_is_linked_by_the_flags_alone(tmp_path: Path) -> None:
    """With both libraries in one directory, also beside the flags of others, whatever their order."""
    install("--prefix", tmp_path)
    (tmp_path / "app.c").write_text(C_PROGRAM)
    path = {"PKG_CONFIG_PATH": str(tmp_path / "lib/pkgconfig")}
    for names in (["bellwire"], ["bellwire", "jansson"], ["jansson", "bellwire"]):
        flags = run("pkg-config", "--static", "--cflags", "--libs", *names, **path).stdout.split()
        run("cc", tmp_path / "app.c", "-o", tmp_path / "app", *flags)
        assert "libbellwire" not in run("readelf", "-d", tmp_path / "app").stdout
        assert run(tmp_path / "app").stdout == f"{VERSION}\n"
    # What follows on the command line is linked as before: a library that nothing uses stays.
    run("cc", tmp_path / "app.c", "-o", tmp_path / "app", "-Wl,--no-as-needed", *flags, "-lz")
    assert "libz" in run("readelf", "-d", tmp_path / "app").stdout


def test_nothing_is_written_through_a_link_that_stands_in_the_way(tmp_path: Path) -> None:
    """Neither through one in a file's place nor through one that an interrupted install could have left beside it."""
    other = tmp_path / "other"
    other.write_text("somebody else's")
    prefix = tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/bellwire").symlink_to(other)
    (prefix / "bin/bellwire.bellwire-new").symlink_to(other)
    install("--prefix", prefix)
    assert other.read_text() == "somebody else's"
    assert not (prefix / "bin/bellwire").is_symlink()
    assert not os.path.lexists(prefix / "bin/bellwire.bellwire-new")


def test_the_units_name_the_program_where_it_was_installed(tmp_path: Path) -> None:
    """Also where its path has what systemd reads as something else; the place of a package in making is not named."""
    install("--prefix", '/opt/100% "bell"', "--destdir", tmp_path)
    for unit in tmp_path.rglob("*.service"):
        starts = re.findall("^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
        assert len(starts) == 1 and starts[0].startswith('"/opt/100%% \\"bell\\"/bin/bellwire" '), starts
        assert str(tmp_path) not in unit.read_text()


def test_a_destdir_holds_the_tree_of_the_prefix_and_names_itself_nowhere(tmp_path: Path) -> None:
    destdir = tmp_path / "dest dir"
    install("--prefix", "/usr", "--libdir", f"lib/{TRIPLET}", "--destdir", destdir)
    assert {path.name for path in destdir.iterdir()} == {"usr"}
    libraries = destdir / f"usr/lib/{TRIPLET}"
    assert (libraries / "libbellwire.so").resolve() == libraries / "libbellwire.so.1"
    for path, content in tree(destdir).items():
        assert str(destdir).encode() not in content, path
    # One level deeper the ways to the headers still lead there.
    flags = run("pkg-config", "--cflags-only-I", "bellwire", PKG_CONFIG_PATH=str(libraries / "pkgconfig")).stdout
    include = flags.strip().removeprefix("-I").replace("\\", "")
    assert Path(include).resolve() == destdir / "usr/include"
    run(
        "cmake",
        "-S",
        ROOT / "Tests/ABI/cmake",
        "-B",
        tmp_path / "build",
        f"-DCMAKE_PREFIX_PATH={destdir / 'usr'}",
        f"-DCMAKE_LIBRARY_ARCHITECTURE={TRIPLET}",
    )
    run("cmake", "--build", tmp_path / "build", "--target", "shared")
    assert run(tmp_path / "build/shared").stdout == f"{VERSION} opens\n"


def test_installing_twice_is_installing_once_and_uninstalling_leaves_nothing(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    install("--prefix", prefix)
    once = tree(prefix)
    install("--prefix", prefix)
    assert tree(prefix) == once
    install("uninstall", "--prefix", prefix)
    assert not prefix.exists()


def test_uninstalling_keeps_what_is_not_its_own(tmp_path: Path) -> None:
    """A foreign file, a directory that was there before, and a file that somebody has changed since: it says so."""
    prefix = tmp_path / "prefix"
    (prefix / "share/man").mkdir(parents=True)
    (prefix / "share/man/other.1").write_text("another's")
    (prefix / "lib/pkgconfig").mkdir(parents=True)
    install("--prefix", prefix)
    (prefix / "include/other.h").write_text("another's")
    (prefix / "share/doc/bellwire/README.md").write_text("mine now")
    kept = install("uninstall", "--prefix", prefix).stderr
    assert kept.splitlines() == [
        f"install.sh: kept, because it was changed after the installation: {prefix / 'share/doc/bellwire/README.md'}"
    ]
    assert {path for path, content in tree(prefix).items() if content} == {
        "share/man/other.1",
        "include/other.h",
        "share/doc/bellwire/README.md",
    }
    assert (prefix / "lib/pkgconfig").is_dir() and not (prefix / "bin").exists()


def test_a_newer_version_takes_away_what_only_the_older_one_had(tmp_path: Path) -> None:
    """Here the libraries go to another directory: nothing of them stays where they were."""
    prefix = tmp_path / "prefix"
    install("--prefix", prefix)
    install("--prefix", prefix, "--libdir", "lib64")
    assert not (prefix / "lib/libbellwire.a").exists() and not (prefix / "lib/cmake").exists()
    assert (prefix / "lib64/libbellwire.a").exists()
    install("uninstall", "--prefix", prefix)
    assert not prefix.exists()


def test_what_cannot_be_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """And leaves everything as it was; a manifest that points outside the prefix removes nothing."""

    def refused(*arguments: str | Path, **environment: str) -> str:
        done = install(*arguments, check=False, **environment)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("install.sh: ")
        return done.stderr

    assert "usage:" in refused()
    assert "needs a directory" in refused("--prefix")
    assert "unknown argument '--prefixes'" in refused("--prefixes", "/x")
    assert "install.sh has not installed anything in" in refused("uninstall", "--prefix", tmp_path)
    assert "below the prefix" in refused("--prefix", tmp_path / "p", "--libdir", "/elsewhere")
    assert "below the prefix" in refused("--prefix", tmp_path / "p", "--libdir", ".")
    assert "control characters" in refused("--prefix", "/a\nb")
    missing = refused("--prefix", tmp_path / "p", "--stage", tmp_path)
    assert "lib/libbellwire.so.1 is missing" in missing and "run bindings/c/build.sh" in missing
    assert list(tmp_path.iterdir()) == []

    prefix = tmp_path / "prefix"
    install("--prefix", prefix)
    foreign = tmp_path / "foreign"
    foreign.write_text("another's")
    manifest = prefix / "share/bellwire/install.manifest"
    manifest.write_text(f"{manifest.read_text()}link\tx\tshare/../../foreign\n")
    before = tree(tmp_path)
    assert "is damaged" in refused("uninstall", "--prefix", prefix)
    assert tree(tmp_path) == before


# MARK: systemd


def exec_start(unit: Path, **values: str) -> list[str]:
    """The command of a unit, with its variables filled in; a bare $NAME becomes its words, as systemd does it."""
    (start,) = re.findall("^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
    words: list[str] = []
    for word in start.split():
        if word.startswith("$") and not word.startswith("${"):
            words += values.get(word[1:], "").split()
        else:
            words.append(re.sub(r"\$\{(\w+)\}", lambda found: values[found.group(1)], word))
    return words


#: Runs a command as a unit's seccomp settings would have it: those system calls only, no memory that is written and then
#: executed, those address families only. With the system's Python, which has libseccomp.
CONFINE = """
import errno, mmap, os, socket, subprocess, sys
import seccomp

def calls(name):
    words = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True)
    for word in (line.strip() for line in words.stdout.splitlines()[1:]):
        if word.startswith("@"):
            yield from calls(word)
        elif word and not word.startswith("#"):
            yield word

def add(action, call, *arguments):
    try:
        wanted.add_rule(action, call, *arguments)
    except (RuntimeError, OSError):
        pass  # a call of another architecture

refused = seccomp.ERRNO(errno.EPERM)
families = [getattr(socket, name) for name in sys.argv[1].split()]
allowed = set(calls("@system-service")) - set(calls("@privileged")) - set(calls("@resources")) | {"execve"}
wanted = seccomp.SyscallFilter(defaction=refused)
for call in allowed - {"mmap", "mprotect", "socket"}:
    add(seccomp.ALLOW, call)
for family in families:
    add(seccomp.ALLOW, "socket", seccomp.Arg(0, seccomp.EQ, family))
both = mmap.PROT_WRITE | mmap.PROT_EXEC
for protection in (0, mmap.PROT_WRITE, mmap.PROT_EXEC):
    add(seccomp.ALLOW, "mmap", seccomp.Arg(2, seccomp.MASKED_EQ, both, protection))
add(seccomp.ALLOW, "mprotect", seccomp.Arg(2, seccomp.MASKED_EQ, mmap.PROT_EXEC, 0))
wanted.load()
os.execv(sys.argv[2], sys.argv[2:])
"""


def confined(unit: Path, *command: str) -> list[str]:
    """A command as a nobody without privileges, behind the unit's filters."""
    (families,) = re.findall("^RestrictAddressFamilies=(.*)$", unit.read_text(), re.MULTILINE)
    nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
    as_nobody = nobody if os.geteuid() == 0 else []
    return ["setpriv", *as_nobody, "--no-new-privs", "/usr/bin/python3", "-c", CONFINE, families, *command]


@pytest.fixture
def nobodys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A prefix that a user without privileges can read, and a directory of theirs in it."""
    directory = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
    directory.chmod(0o755)
    install("--prefix", directory / "prefix")
    (directory / "state").mkdir()
    if os.geteuid() == 0:
        os.chown(directory / "state", 65534, 65534)
    yield directory
    shutil.rmtree(directory)


def test_the_filters_of_the_test_do_confine(nobodys: Path) -> None:
    """Without this the next tests would prove nothing: what the units forbid is refused."""
    unit = SYSTEMD / "bellwire-relay.service.in"
    for forbidden in (
        "import socket; socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)",
        "import mmap; mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)",
        "import os; os.chroot('/')",
        "import os; os.nice(-5)",
    ):
        done = run(*confined(unit, "/usr/bin/python3", "-c", forbidden), check=False)
        assert "PermissionError" in done.stderr, f"{forbidden}: {done.stderr}"


def test_the_relay_of_the_unit_works_behind_its_filters(start: Callable[..., Program], nobodys: Path) -> None:
    unit = nobodys / "prefix/lib/systemd/system/bellwire-relay.service"
    command = exec_start(
        unit,
        STATE_DIRECTORY=str(nobodys / "state"),
        BELLWIRE_RELAY_OPTIONS="--listen 127.0.0.1:0 --health 127.0.0.1:0",
    )
    relay = start(*confined(unit, *command))
    url = relay.line(r"ws://[^,\s]+").group()
    one, two = Peer(url, "one"), Peer(url, "two")
    one.message("two", {"type": "hello"})
    assert two.payload("hello") == {"type": "hello"}
    one.close()
    two.close()
    assert relay.end(signal.SIGTERM) == 0
    assert relay.err.all == []


@pytest.mark.parametrize("name", ["share/systemd/user/bellwire-desktop", "lib/systemd/system/bellwire-desktop@"])
def test_the_desktop_of_a_unit_works_behind_its_filters(
    start: Callable[..., Program], relay: str, nobodys: Path, name: str
) -> None:
    """Without a terminal it offers no pairing, so that no code reaches a journal, and needs no standard output."""
    unit = nobodys / f"prefix/{name}.service"
    for setting in ("StandardInput=null", "StandardOutput=null"):
        assert f"\n{setting}\n" in unit.read_text()
    command = exec_start(unit, BELLWIRE_DESKTOP_OPTIONS=f"--relay-url {relay} --state-dir {nobodys / 'state'}")
    desktop = start(*confined(unit, "/bin/sh", "-c", 'exec "$@" < /dev/null > /dev/null', "sh", *command))
    desktop.error_line("online")
    assert desktop.end(signal.SIGTERM) == 0
    assert desktop.out.all == []


# MARK: The packages


@pytest.fixture(scope="module", autouse=True)
def builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[Path, subprocess.Popen[str]]]]:
    """The packages are built twice, by others of another time zone, language and mask of rights, while the tests run
    that need none."""
    surroundings = [{}, {"TZ": "Asia/Kathmandu", "LANG": "de_DE.UTF-8", "LC_ALL": "C", "USER": "else"}]
    started = []
    for surrounding, mask in zip(surroundings, (0o022, 0o077)):
        directory = tmp_path_factory.mktemp("packages")
        build = subprocess.Popen(
            [ROOT / "bindings/debian/build.sh", "--stage", STAGE, "--output", directory],
            # The level of compression alone is not what people get: it takes half of the time.
            env={"PATH": "/usr/sbin:/usr/bin:/bin", "DPKG_DEB_COMPRESSOR_LEVEL": "1", **surrounding},
            umask=mask,
            stdin=subprocess.DEVNULL,
            stdout=(directory / "log").open("wb"),
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append((directory, build))
    yield started
    for _, build in started:
        if build.poll() is None:
            os.killpg(build.pid, signal.SIGKILL)
            build.wait()


@pytest.fixture(scope="module")
def packages(builds: list[tuple[Path, subprocess.Popen[str]]]) -> list[Path]:
    """The five packages, of the first build; those of the second are the same."""
    made: list[dict[str, bytes]] = []
    for directory, build in builds:
        assert build.wait(240) == 0, (directory / "log").read_text()
        made.append({path.name: path.read_bytes() for path in directory.glob("*.deb")})
    assert made[0].keys() == made[1].keys()
    assert [name for name in made[0] if made[0][name] != made[1][name]] == []
    return sorted(builds[0][0].glob("*.deb"))


@pytest.fixture(scope="module")
def lintian(packages: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """Lintian at work on the packages, beside the tests that install them. Of the development files without the static
    library, which alone takes it two and a half minutes."""
    directory = tmp_path_factory.mktemp("lintian")
    looked_at = []
    for path in packages:
        if path.name.startswith("libbellwire-dev_"):
            run("dpkg-deb", "--raw-extract", path, directory / "dev")
            archive = f"usr/lib/{TRIPLET}/libbellwire.a"
            (directory / "dev" / archive).unlink()
            sums = directory / "dev/DEBIAN/md5sums"
            sums.write_text("".join(line for line in sums.read_text().splitlines(True) if archive not in line))
            path = directory / path.name
            run("dpkg-deb", "--build", "--root-owner-group", directory / "dev", path)
        looked_at.append(path)
    # For each of the programs that it starts it closes every number that a file may have.
    limited = ["sh", "-c", 'ulimit -n 1024 && exec "$@"', "sh"]
    process = subprocess.Popen(
        [*limited, "lintian", "--allow-root", "--fail-on", "error,warning", *looked_at],
        env=BARE,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def package(packages: list[Path], name: str) -> Path:
    (found,) = (path for path in packages if path.name.startswith(f"{name}_"))
    return found


def field(path: Path, name: str) -> str:
    return run("dpkg-deb", "--field", path, name).stdout.strip()


def contents(path: Path) -> set[str]:
    lines = run("dpkg-deb", "--contents", path).stdout.splitlines()
    return {line.split(None, 5)[5].split(" -> ")[0].removeprefix("./") for line in lines if not line.startswith("d")}


@pytest.mark.usefixtures("lintian")
def test_the_five_packages_are_built_and_twice_the_same(packages: list[Path]) -> None:
    architecture = run("dpkg", "--print-architecture").stdout.strip()
    assert {path.name for path in packages} == {
        f"{name}_{VERSION}-1_{'all' if name == 'python3-bellwire' else architecture}.deb" for name in PACKAGES
    }


def test_each_package_in_machine_code_says_what_is_inside(packages: list[Path], tmp_path: Path) -> None:
    for name in ["libbellwire1", "libbellwire-dev", "bellwire"]:
        run("dpkg-deb", "--extract", package(packages, name), tmp_path / name)
        check_inventory(tmp_path / name / "usr/share/doc" / name)


def paragraphs(text: str) -> list[dict[str, str]]:
    """The paragraphs of a file in the format of DEP 5: fields with all their lines."""
    found: list[dict[str, str]] = []
    for paragraph in text.strip().split("\n\n"):
        fields = re.findall(r"^([\w-]+): ?(.*(?:\n[ \t].*)*)", paragraph, re.MULTILINE)
        assert "".join(f"{name}:{value}" for name, value in fields).strip(), paragraph
        found.append(dict(fields))
    return found


def test_the_copyright_file_names_everything_that_is_inside(packages: list[Path], tmp_path: Path) -> None:
    """What the linker has read is in the SBOM: each part has its version, files and licence in the copyright file, and
    each licence its text. A part that nobody has described ends the build of the packages."""
    script = ROOT / "bindings/debian/copyright.py"
    for name in PACKAGES:
        run("dpkg-deb", "--extract", package(packages, name), tmp_path / name)
        head, ours, inside, *licences = paragraphs((tmp_path / name / f"usr/share/doc/{name}/copyright").read_text())
        assert head["Upstream-Name"] == "Bellwire" and head["Source"].startswith("https://")
        assert (ours["Files"], ours["License"]) == ("*", "Expat")
        for file in ("bin/bellwire", "lib/libbellwire.a", "lib/libbellwire.so.1"):
            assert f"stage/{file}" in inside["Files"].split() and (STAGE / file).exists()
        named = set(re.split(" and ", inside["License"]))
        texts = {each["License"].split("\n")[0]: each["License"].split("\n", 1)[1] for each in licences}
        assert named == set(texts)
        for licence, text in texts.items():
            common = re.findall(r"/usr/share/common-licenses/([\w.-]+\w)", text)
            whole = re.findall(r"licences/(\w+\.txt)", text)
            assert common or whole or licence == "Expat", licence
            assert all(Path("/usr/share/common-licenses", name).exists() for name in common), common
            assert all((STAGE / "share/doc/bellwire/licences" / name).exists() for name in whole), whole
        said = " ".join(inside["Comment"].split())
        for part in json.loads((STAGE / "share/doc/bellwire/bellwire.spdx.json").read_text())["packages"][1:]:
            files = part["comment"].removeprefix("inside: ")
            found = re.search(
                re.escape(f"{part['name']} {part['versionInfo']} ({files}), ") + r"(.+?)(?:;|\.)(?: |$)", said
            )
            assert found and set(found.group(1).split(" and ")) <= named, part

    sbom = {"packages": [{}, {"name": "left-pad", "versionInfo": "1", "comment": "inside: libleftpad.a"}]}
    (tmp_path / "sbom.json").write_text(json.dumps(sbom))
    refused = run(script, "--licence", ROOT / "LICENSE", "--sbom", tmp_path / "sbom.json", check=False)
    assert refused.returncode != 0 and "left-pad" in refused.stderr


def test_the_packages_say_where_the_project_is(packages: list[Path], tmp_path: Path) -> None:
    for path in packages:
        assert field(path, "Homepage").startswith("https://"), path
    control = (ROOT / "bindings/debian/control").read_text().split("\n\n")[0]
    assert "\nHomepage: @HOMEPAGE@\nVcs-Git: @VCS@.git\nVcs-Browser: @VCS@\n" in control
    run("dpkg-deb", "--extract", package(packages, "python3-bellwire"), tmp_path)
    (metadata,) = tmp_path.rglob("METADATA")
    assert f"\nProject-URL: Homepage, {field(packages[0], 'Homepage')}\n" in metadata.read_text()
    build = ROOT / "bindings/debian/build.sh"
    refused = run(build, "--stage", STAGE, "--output", tmp_path, check=False, BELLWIRE_HOMEPAGE="here & there")
    assert refused.returncode == 1 and "'here & there' is not an https URL" in refused.stderr


def test_links_between_installed_pages_lead_somewhere(packages: list[Path], tmp_path: Path) -> None:
    run("dpkg-deb", "--extract", package(packages, "bellwire"), tmp_path)
    assert len(list((tmp_path / "usr/share/doc/bellwire/documentation").glob("*.md"))) > 30
    assert broken_links(tmp_path / "usr/share/doc/bellwire") == []


def test_each_package_has_its_part_and_no_other(packages: list[Path]) -> None:
    def part(name: str) -> set[str]:
        return {path for path in contents(package(packages, name)) if not path.startswith(f"usr/share/doc/{name}/")}

    overrides = "usr/share/lintian/overrides"
    assert part("libbellwire1") == {f"usr/lib/{TRIPLET}/libbellwire.so.1", f"{overrides}/libbellwire1"}
    assert part("libbellwire-dev") == {
        f"usr/lib/{TRIPLET}/libbellwire.so",
        f"usr/lib/{TRIPLET}/libbellwire.a",
        f"usr/lib/{TRIPLET}/pkgconfig/bellwire.pc",
        f"usr/lib/{TRIPLET}/pkgconfig/bellwire-shared.pc",
        f"usr/lib/{TRIPLET}/cmake/bellwire/bellwireConfig.cmake",
        f"usr/lib/{TRIPLET}/cmake/bellwire/bellwireConfigVersion.cmake",
        f"{overrides}/libbellwire-dev",
        *(f"usr/include/{header.name}" for header in (STAGE / "include").glob("*.h")),
        *(f"usr/share/man/man3/{manual.name}.gz" for manual in (STAGE / "share/man/man3").iterdir()),
    }
    source = ROOT / "bindings/python/src"
    modules = {str(path.relative_to(source)) for path in source.rglob("*.py")} | {"bellwire/py.typed"}
    assert part("python3-bellwire") == {
        *(f"usr/lib/python3/dist-packages/{module}" for module in modules),
        f"usr/lib/python3/dist-packages/bellwire-{VERSION}.dist-info/METADATA",
        f"{overrides}/python3-bellwire",
    }
    assert part("bellwire") == {
        "usr/bin/bellwire",
        "etc/bellwire/relay.conf",
        "lib/systemd/system/bellwire-relay.service",
        "lib/systemd/system/bellwire-desktop@.service",
        "usr/lib/systemd/user/bellwire-desktop.service",
        "usr/lib/systemd/user/bellwire-agent.service",
        "usr/share/bash-completion/completions/bellwire",
        "usr/share/fish/vendor_completions.d/bellwire.fish",
        "usr/share/zsh/vendor-completions/_bellwire",
        "usr/share/man/man1/bellwire.1.gz",
        *(f"usr/share/man/man1/bellwire-{command}.1.gz" for command in commands()),
        f"{overrides}/bellwire",
    }
    languages = (ROOT / "examples/tray/po/LINGUAS").read_text().split()
    assert part("bellwire-tray") == {
        "usr/bin/bellwire-tray",
        "etc/xdg/autostart/org.bellwire.Tray.desktop",
        "usr/share/applications/org.bellwire.Tray.desktop",
        "usr/share/icons/hicolor/scalable/apps/org.bellwire.Tray.svg",
        "usr/share/man/man1/bellwire-tray.1.gz",
        *(f"usr/share/locale/{language}/LC_MESSAGES/bellwire-tray.mo" for language in languages),
        f"{overrides}/bellwire-tray",
    }


def test_the_packages_depend_on_what_they_load(packages: list[Path]) -> None:
    library, program = package(packages, "libbellwire1"), package(packages, "bellwire")
    for path, file in ((library, STAGE / "lib/libbellwire.so.1"), (program, STAGE / "bin/bellwire")):
        depends = field(path, "Depends")
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", file).stdout)
        assert "libc.so.6" in needed
        owners: dict[str, set[str]] = {name: set() for name in needed}
        for found in run("dpkg-query", "--search", *(f"*/{name}" for name in needed)).stdout.splitlines():
            owner, _, owned = found.rpartition(": ")
            if not found.startswith("diversion"):
                owners[Path(owned).name].add(owner.split(":")[0])
        named = {each.split()[0] for each in depends.split(", ")}
        assert [name for name, packaged in owners.items() if not packaged & named] == [], depends
        for name in ("libzbar0", "libpng16-16", "libturbojpeg0", "libwebp7", "libgif7", "libcurl4", "libsystemd0"):
            assert name in field(path, "Recommends")
        # Loaded with the first TLS connection.
        assert "libssl3" in named
    assert "libc6 (>= 2.34)" in field(library, "Depends")
    assert field(package(packages, "libbellwire-dev"), "Depends") == f"libbellwire1 (= {VERSION}-1)"
    tray = {each.split()[0] for each in field(package(packages, "bellwire-tray"), "Depends").split(", ")}
    assert {"libbellwire1", "libgtk-3-0", "libayatana-appindicator3-1", "libjansson4"} <= tray
    private = re.findall("^Libs.private: (.*)$", (ROOT / "bindings/c/bellwire.pc.in").read_text(), re.MULTILINE)
    # These come with a compiler.
    named = {flag for flag in private[0].split() if flag.startswith("-l")}
    static = named - {"-l:libbellwire.a", "-lstdc++", "-lm", "-lpthread", "-ldl"}
    recommended = field(package(packages, "libbellwire-dev"), "Recommends").split(", ")
    assert len(static) == len(recommended) and "libssl-dev" not in recommended
    python = field(package(packages, "python3-bellwire"), "Depends").split(", ")
    assert {f"libbellwire1 (>= {VERSION})", "python3 (>= 3.9)"} <= set(python)


def test_the_tray_starts_with_the_session_and_finds_its_translations(packages: list[Path], tmp_path: Path) -> None:
    run("dpkg-deb", "--extract", package(packages, "bellwire-tray"), tmp_path)
    run("dpkg-deb", "--extract", package(packages, "libbellwire1"), tmp_path)
    entry = (tmp_path / "etc/xdg/autostart/org.bellwire.Tray.desktop").read_text()
    assert "\nExec=bellwire-tray --background\n" in entry and "\nComment[de]=" in entry
    assert "RUNPATH" not in run("readelf", "-dW", tmp_path / "usr/bin/bellwire-tray").stdout
    said = run(tmp_path / "usr/bin/bellwire-tray", "--version", LD_LIBRARY_PATH=str(tmp_path / f"usr/lib/{TRIPLET}"))
    assert said.stdout == f"bellwire-tray {VERSION}\n"


def test_the_symbols_file_lists_the_functions_of_the_header(tmp_path: Path) -> None:
    """A function that is new stands there with the version that brought it."""
    listed = re.findall(r"^ (bw_\w+)@", run(str(ROOT / "bindings/debian/symbols.sh")).stdout, re.MULTILINE)
    declared = re.findall(r"\b(bw_\w+)\(", re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL))
    assert listed == sorted(set(declared)), f"in one only: {set(listed) ^ set(declared)}"


# MARK: The packages, installed

#: Where dpkg and the triggers of others keep their own accounts, which a purge does not wind back.
ACCOUNTS = re.compile(
    r"var/lib/dpkg/(status|status-old|lock|lock-frontend|available|diversions|statoverride|triggers/\w+)(-old)?$"
    r"|var/lib/dpkg/(info|updates|triggers)/?$|var/log/(dpkg|alternatives)\.log$|var/cache/(man|ldconfig|debconf)/"
    r"|etc/ld\.so\.cache$"
)


def users_program(root: ThrowawayRoot, shared: Path) -> None:
    """What a user of the packages does: C, shared and static, through pkg-config and CMake, and Python."""
    (shared / "app.c").write_text(C_PROGRAM)
    compiler = "cc -std=c99 -Wall -Wextra -Wpedantic -Werror /mnt/app.c -o /tmp/app"
    root.run("sh", "-c", f"{compiler} $(pkg-config --cflags --libs bellwire)")
    assert root.run("/tmp/app").stdout == f"{VERSION}\n"
    assert f"/usr/lib/{TRIPLET}/libbellwire.so.1" in root.run("ldd", "/tmp/app").stdout.replace("/lib/", "/usr/lib/", 1)
    root.run("sh", "-c", f"{compiler} $(pkg-config --static --cflags --libs bellwire)")
    assert root.run("/tmp/app").stdout == f"{VERSION}\n"
    assert "libbellwire" not in root.run("ldd", "/tmp/app").stdout
    shutil.copytree(ROOT / "Tests/ABI/cmake", shared / "abi/cmake", dirs_exist_ok=True)
    for source in (ROOT / "Tests/ABI").glob("consumer.*"):
        shutil.copy(source, shared / "abi")
    root.run("cmake", "-S", "/mnt/abi/cmake", "-B", "/tmp/cmake")
    root.run("cmake", "--build", "/tmp/cmake")
    for kind in ("shared", "static"):
        assert root.run(f"/tmp/cmake/{kind}").stdout == f"{VERSION} opens\n"
    assert root.run("/usr/bin/python3", "-c", PYTHON_PROGRAM).stdout.split() == [
        "/usr/lib/python3/dist-packages/bellwire/__init__.py",
        VERSION,
        VERSION,
    ]


def users_terminal(root: ThrowawayRoot) -> None:
    """The program, its manuals, and its completions as the three shells load them by themselves."""
    assert root.run("bellwire", "--version").stdout == f"bellwire {VERSION}\n"
    pages = ["bellwire", *(f"bellwire-{command}" for command in commands())]
    found = root.run("man", "-w", *pages).stdout.splitlines()
    assert found == [f"/usr/share/man/man1/{name}.1.gz" for name in pages]
    found = root.run("man", "-w", "3", "bellwire", "bw_device_open", "BW_E_TIMEOUT").stdout.splitlines()
    assert found == [f"/usr/share/man/man3/{name}.3.gz" for name in ("bellwire", "bw_device", "bw_library")]
    page = root.run("man", "bw_pairing_scan", environment=["MANWIDTH=100"]).stdout
    assert "Pairs with the desktop whose QR code contains qr_text" in page
    page = root.run("man", "--warnings=w", "bellwire-relay", environment=["MANWIDTH=100"])
    assert "--listen" in page.stdout and page.stderr == ""
    bash = ". /usr/share/bash-completion/bash_completion; _completion_loader bellwire; complete -p bellwire"
    assert "bellwire" in root.run("bash", "-c", bash).stdout
    zsh = "autoload -Uz compinit; compinit -D; print $_comps[bellwire]"
    assert root.run("zsh", "-fc", zsh).stdout == "_bellwire\n"
    assert "relay" in root.run("fish", "-c", "complete -C 'bellwire re'").stdout


def test_installed_used_upgraded_and_purged_nothing_is_left(
    packages: list[Path], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """With dpkg, for real, in a copy of this machine: every file that was written stands in the copy's upper layer."""
    shared = tmp_path / "shared"
    (tmp_path / "copy").mkdir()
    shutil.copytree(packages[0].parent, shared)
    try:
        root = ThrowawayRoot(tmp_path / "copy", shared)
    except Unavailable as reason:
        pytest.skip(f"no copy of this machine can be made; dpkg --root is tested alone: {reason}")

    def installed() -> str:
        return run("dpkg-query", "--show", "*bellwire*", check=False).stdout + str(Path("/usr/bin/bellwire").exists())

    before = installed()
    with root:
        debs = [f"/mnt/{path.name}" for path in packages]
        root.run("dpkg", "--install", *debs)
        users_program(root, shared)
        users_terminal(root)
        for unit, scope in (
            ("bellwire-relay", "--system"),
            ("bellwire-desktop@root", "--system"),
            ("bellwire-desktop", "--user"),
            ("bellwire-agent", "--user"),
        ):
            verified = root.run(
                "systemd-analyze", scope, "verify", f"{unit}.service", environment=["XDG_RUNTIME_DIR=/run"]
            )
            assert verified.stdout + verified.stderr == ""
        # A desktop's unit leaves its user's home as it is.
        for unit, bound in (("bellwire-relay", 1.5), ("bellwire-desktop@root", 2.5)):
            said = root.run("systemd-analyze", "security", "--offline=true", f"{unit}.service").stdout
            exposure = float(re.findall(rf"Overall exposure level for {unit}.service: ([0-9.]+)", said)[0])
            record_property(f"{unit}_exposure", exposure)
            assert exposure <= bound, said
        # Neither is started, nor will be, unless somebody asks for it.
        assert [path for path in root.changed() if re.search(r"\.wants/.*bellwire", path)] == []

        conf = root.root / "etc/bellwire/relay.conf"
        conf.write_text("BELLWIRE_RELAY_OPTIONS=--no-health\n")
        root.run("dpkg", "--install", *(deb for deb in debs if "/bellwire_" in deb))
        assert conf.read_text() == "BELLWIRE_RELAY_OPTIONS=--no-health\n"
        root.run("dpkg", "--remove", *PACKAGES)
        assert conf.exists() and not (root.root / "usr/bin/bellwire").exists()
        root.run("dpkg", "--purge", *PACKAGES)
        assert [path for path in root.changed() if not ACCOUNTS.search(path)] == []
        assert [path for path in root.changed() if "bellwire" in path and "cache/man" not in path] == []
        assert root.run("dpkg-query", "--show", *PACKAGES, check=False).stdout == ""
    assert installed() == before


def show(root: ThrowawayRoot, name: str, unit: str) -> str:
    return root.run("systemctl", "show", "--value", "--property", name, unit).stdout.strip()


def main_process(root: ThrowawayRoot, unit: str) -> str:
    return show(root, "MainPID", unit)


def users_desktop(root: ThrowawayRoot) -> None:
    """The unit of a person, under a manager of theirs, through the machine's relay by a line of configuration."""
    root.run("useradd", "--create-home", "person")
    for directory in ("/run/person", "/home/person/.config/bellwire"):
        root.run("install", "--directory", "--owner=person", "--mode=700", directory)
    (root.root / "home/person/.config/bellwire/desktop.conf").write_text(
        'BELLWIRE_DESKTOP_OPTIONS="--relay-url ws://127.0.0.1:9001 --name Study"\n'
    )
    theirs = ["HOME=/home/person", "XDG_RUNTIME_DIR=/run/person"]
    manager = ["--unit=manager", "--uid=person", "--property=Delegate=yes", *(f"--setenv={each}" for each in theirs)]
    root.run("systemd-run", *manager, "/lib/systemd/systemd", "--user")

    def systemctl(*arguments: str) -> str:
        person = ["setpriv", "--reuid=person", "--regid=person", "--clear-groups"]
        return root.run(*person, "systemctl", "--user", *arguments, check=False, environment=theirs).stdout

    wait_until(lambda: systemctl("is-active", "default.target") == "active\n", 15)
    systemctl("start", "bellwire-desktop")
    said = ["journalctl", "--identifier=bellwire", "--output=cat"]
    wait_until(lambda: "bellwire: online" in root.run(*said).stdout, 15)
    assert (root.root / "home/person/.local/state/bellwire/desktop").is_dir()
    systemctl("stop", "bellwire-desktop")
    assert systemctl("show", "--value", "--property=Result", "bellwire-desktop") == "success\n"
    root.run("systemctl", "stop", "manager")


def system_desktop(root: ThrowawayRoot) -> None:
    """The same desktop without a session, as a unit of the system: the person's own commands reach it."""
    (root.root / "etc/bellwire/desktop-person.conf").write_text(
        'BELLWIRE_DESKTOP_OPTIONS="--relay-url ws://127.0.0.1:9001 --name Study"\n'
    )
    unit = "bellwire-desktop@person"
    root.run("systemctl", "start", unit)
    said = ["journalctl", f"--unit={unit}", "--output=cat"]
    wait_until(lambda: "bellwire: online" in root.run(*said).stdout, 15)
    process = root.root / "proc" / main_process(root, unit)
    status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
    assert status["Uid"].split()[0] == root.run("id", "--user", "person").stdout.strip()
    assert (status["CapBnd"], status["NoNewPrivs"], status["Seccomp"]) == ("0" * 16, "1", "2")

    def bellwire(*words: str) -> subprocess.CompletedProcess[str]:
        person = ["setpriv", "--reuid=person", "--regid=person", "--clear-groups"]
        return root.run(*person, "bellwire", *words, check=False, environment=["HOME=/home/person"])

    pushed = bellwire("push", "--json", "Backup done")
    assert pushed.returncode == 0 and json.loads(pushed.stdout)["notificationId"], pushed.stdout + pushed.stderr
    # It is the desktop of the person's own commands: a second one finds the directory in use.
    assert bellwire("desktop", "--no-pair", "--relay-url", "ws://127.0.0.1:9001").returncode == 5

    # Nobody has that name: it says so once, and is not tried again.
    root.run("systemctl", "start", "bellwire-desktop@nobodys", check=False)
    wait_until(lambda: show(root, "ActiveState", "bellwire-desktop@nobodys") == "failed", 15)
    assert show(root, "NRestarts", "bellwire-desktop@nobodys") == "0"


#: Arguments: the files of the next certificate and its key. Peers of the relay stay connected over a reload.
RELOADS = r"""
import os, shutil, socket, ssl, subprocess, sys, time
etc = "/etc/bellwire/"
context = ssl.create_default_context(cafile=etc + "ca.pem")
head = (
    "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
def peer():
    stream = context.wrap_socket(socket.create_connection(("127.0.0.1", 9003), 15), server_hostname="127.0.0.1")
    stream.sendall(head.encode())
    data = b""
    while not data.endswith(b"\r\n\r\n"): data += stream.recv(1)
    assert data.startswith(b"HTTP/1.1 101"), data
    return stream
def is_alive(stream):
    stream.sendall(b"\x89\x80\0\0\0\0")
    return stream.recv(2) == b"\x8a\0"
peers = [peer() for _ in range(20)]
before = peers[0].getpeercert()["serialNumber"]
for source, name in zip(sys.argv[1:], ("relay.pem", "relay.key")): shutil.copyfile(source, etc + name)
subprocess.run(["systemctl", "reload", "bellwire-relay"], check=True)
deadline = time.monotonic() + 15
while (after := peer().getpeercert()["serialNumber"]) == before: assert time.monotonic() < deadline, after
assert all([is_alive(each) for each in peers])
print("reloaded")
"""


def reloads_the_certificate(root: ThrowawayRoot, shared: Path) -> None:
    """`systemctl reload` with a new certificate: new connections are shown it, and none is dropped."""
    authority = Authority(shared / "ca")
    folder = root.root / "etc/bellwire"
    shutil.copy(authority.file, folder / "ca.pem")
    for file, name in zip(authority.issue("first", "IP:127.0.0.1"), ("relay.pem", "relay.key"), strict=True):
        # Everybody may read it: the unit's user has no name to give it to.
        shutil.copyfile(file, folder / name)
    authority.issue("second", "IP:127.0.0.1")
    options = "--listen 127.0.0.1:9003 --tls-certificate /etc/bellwire/relay.pem --tls-key /etc/bellwire/relay.key"
    (folder / "relay.conf").write_text(f'BELLWIRE_RELAY_OPTIONS="{options}"\n')
    root.run("systemctl", "restart", "bellwire-relay")
    (shared / "reloads.py").write_text(RELOADS)
    new = ("/mnt/ca/second.pem", "/mnt/ca/second.key")
    assert root.run("/usr/bin/python3", "/mnt/reloads.py", *new).stdout == "reloaded\n"


def test_the_units_run_under_systemd(packages: list[Path], tmp_path: Path) -> None:
    """In a copy of this machine whose first process is systemd: the relay starts with every restriction, is used, is
    started again when it dies and at an upgrade, keeps its state, reads a new certificate, and a purge takes it away; a
    person's desktop goes through it, with a session and without."""
    shared = tmp_path / "shared"
    (tmp_path / "copy").mkdir()
    shutil.copytree(packages[0].parent, shared)
    try:
        root = ThrowawayRoot(tmp_path / "copy", shared, boot=True)
    except Unavailable as reason:
        pytest.skip(f"systemd cannot be started here; the units run behind their filters alone: {reason}")

    def relay(name: str) -> str:
        return show(root, name, "bellwire-relay")

    def healthy() -> bool:
        get = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:9002/health', timeout=5).status)"
        return root.run("/usr/bin/python3", "-c", get, check=False).stdout == "200\n"

    with root:
        wait_until(lambda: root.run("systemctl", "is-system-running", check=False).stdout == "running\n", 30)
        root.run("dpkg", "--install", f"/mnt/{package(packages, 'bellwire').name}")
        assert relay("ActiveState") == "inactive" and relay("UnitFileState") == "disabled"

        root.run("systemctl", "start", "bellwire-relay")
        wait_until(healthy, 15)
        process = root.root / "proc" / relay("MainPID")
        status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
        assert int(status["Uid"].split()[0]) >= 61184  # where systemd takes its passing users from
        assert (status["CapBnd"], status["NoNewPrivs"], status["Seccomp"]) == ("0" * 16, "1", "2")
        state = root.root / "var/lib/private/bellwire-relay"
        assert (state.stat().st_mode & 0o777) == 0o700 and list(state.iterdir())

        users_desktop(root)
        system_desktop(root)

        died = relay("MainPID")
        root.run("kill", "-KILL", died)
        wait_until(lambda: relay("MainPID") not in (died, "0") and healthy(), 15)

        older, desktop = relay("MainPID"), main_process(root, "bellwire-desktop@person")
        root.run("dpkg", "--install", f"/mnt/{package(packages, 'bellwire').name}")
        wait_until(lambda: relay("MainPID") not in (older, "0") and healthy(), 15)
        wait_until(lambda: main_process(root, "bellwire-desktop@person") not in (desktop, "0"), 15)

        # An option that cannot be: it says so once, and is not tried again.
        conf = root.root / "etc/bellwire/relay.conf"
        conf.write_text('BELLWIRE_RELAY_OPTIONS="--listen nowhere"\n')
        root.run("systemctl", "restart", "bellwire-relay", check=False)
        wait_until(lambda: relay("ActiveState") == "failed", 15)
        assert (relay("ExecMainStatus"), relay("NRestarts")) == ("2", "0")
        journal = root.run("journalctl", "--unit", "bellwire-relay", "--output", "cat").stdout
        assert "--listen must be host:port" in journal

        reloads_the_certificate(root, shared)
        for file in ("ca.pem", "relay.pem", "relay.key"):
            (conf.parent / file).unlink()
        (conf.parent / "desktop-person.conf").unlink()
        root.run("dpkg", "--purge", "bellwire")
        assert show(root, "ActiveState", "bellwire-desktop@person") == "inactive"
        assert relay("ActiveState") == "inactive" and relay("LoadState") == "not-found"
        assert not state.exists() and not (root.root / "var/lib/bellwire-relay").is_symlink()
        assert not (root.root / "etc/bellwire").exists()


def test_the_packages_install_below_a_root_of_dpkg(packages: list[Path], tmp_path: Path) -> None:
    """What a machine without namespaces can try, too: a bare root with a shell, in which the packages' scripts run."""
    if os.geteuid() != 0:
        pytest.skip("dpkg --root takes root")
    root = tmp_path / "root"
    for folder in ("info", "updates", "triggers"):
        (root / "var/lib/dpkg" / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    for program in ("sh", "rm", "sed", "find", "xargs", "dpkg", "dpkg-query"):
        for file in [f"/bin/{program}", *re.findall(r"(/\S+) \(0x", run("ldd", f"/bin/{program}").stdout)]:
            (root / file[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, root / file[1:])
    (root / "dev").mkdir()
    (root / "dev/null").touch()
    before = set(tree(root))
    dpkg = ["dpkg", f"--root={root}", "--force-depends", f"--log={tmp_path / 'log'}"]
    path = "/usr/sbin:/usr/bin:/sbin:/bin"
    run(*dpkg, "--install", *packages, PATH=path)

    libraries = root / f"usr/lib/{TRIPLET}"
    (tmp_path / "app.c").write_text(C_PROGRAM)
    flags = run("pkg-config", "--cflags", "--libs", "bellwire", PKG_CONFIG_PATH=str(libraries / "pkgconfig")).stdout
    run("cc", tmp_path / "app.c", "-o", tmp_path / "app", *flags.split())
    assert run(tmp_path / "app", LD_LIBRARY_PATH=str(libraries)).stdout == f"{VERSION}\n"
    said = run(
        "/usr/bin/python3",
        "-Bc",
        PYTHON_PROGRAM,
        PYTHONPATH=str(root / "usr/lib/python3/dist-packages"),
        LD_LIBRARY_PATH=str(libraries),
    ).stdout
    assert said.split()[1:] == [VERSION, VERSION]
    assert run(root / "usr/bin/bellwire", "--version").stdout == f"bellwire {VERSION}\n"

    run(*dpkg, "--purge", *PACKAGES, PATH=path)
    assert [name for name in set(tree(root)) - before if not name.startswith("var/lib/dpkg/")] == []
    assert not list((root / "var/lib/dpkg/info").glob("*bellwire*"))


def test_lintian_finds_nothing(lintian: subprocess.Popen[str]) -> None:
    """No error and no warning, but for those that are overridden with a reason."""
    found, _ = lintian.communicate(timeout=180)
    assert lintian.returncode == 0 and found == ""
