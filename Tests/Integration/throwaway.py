"""A copy of this machine that is thrown away: what is installed in it never reaches the machine.

The machine's root lies below an overlay in a memory file system, in namespaces of its own (mounts, processes, network,
host name). All that was written is in the upper layer, so that one can see what a removal has left behind.
"""

from __future__ import annotations

import os
import stat
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

#: $1 is an empty directory, $2 the directory that both see (here; there it is /mnt), $3 where a cgroup of its own is.
SETUP = r"""
set -e
scratch=$1 shared=$2 cgroup=$3
mount -t tmpfs -o mode=755 tmpfs "$scratch"
cd "$scratch"
mkdir upper work root
mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work overlay root
mount -t proc proc root/proc
mount -t tmpfs -o mode=755 tmpfs root/dev
for name in null zero full random urandom tty; do
    touch "root/dev/$name"
    mount --bind "/dev/$name" "root/dev/$name"
done
mkdir root/dev/pts root/dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts root/dev/pts
ln -s pts/ptmx root/dev/ptmx
mount -t tmpfs -o mode=755 tmpfs root/run
mount -t tmpfs -o mode=1777 tmpfs root/tmp
mount --bind "$shared" root/mnt
mount -t sysfs -o ro sysfs root/sys
if [ -n "$cgroup" ]; then mount -t cgroup2 cgroup2 root/sys/fs/cgroup; fi
# Images of containers leave out manuals, and forbid packages to touch services; here both are wanted.
rm -f root/usr/sbin/policy-rc.d
for file in root/etc/dpkg/dpkg.cfg.d/*; do
    if grep -qs '^path-exclude' "$file"; then sed -i '/^path-exclude/d' "$file"; fi
done
# The index of all manuals is made anew at each package: ten seconds, of which "man" needs none.
rm -f root/var/lib/man-db/auto-update
chroot root /usr/bin/dpkg --version > /dev/null
# Its number outside, which the old /proc tells.
read -r pid rest < /proc/self/stat
echo "ready $pid"
if [ -n "$cgroup" ]; then
    # Not chroot: whose root is not that of its mounts makes no namespace of users.
    cd root
    pivot_root . .
    umount --lazy .
    exec env -i container=throwaway PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        chroot . /lib/systemd/systemd --unit=basic.target --show-status=no --log-target=journal
fi
exec sleep infinity
"""


class Unavailable(Exception):
    """This machine lets nobody make such a copy; the text says what it refused."""


class ThrowawayRoot:
    """With systemd as its first process when `boot` says so."""

    def __init__(self, scratch: Path, shared: Path, boot: bool = False) -> None:
        self.scratch = scratch
        self._cgroup = _own_cgroup() if boot else None
        command = ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"]
        if self._cgroup:
            command.append("--cgroup")
        command += ["sh", "-c", SETUP, "sh", str(scratch), str(shared), str(self._cgroup or "")]
        if self._cgroup:
            command = ["sh", "-ec", 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"', "sh", str(self._cgroup), *command]
        self._log = shared / f"throwaway-{scratch.name}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )
        assert self._process.stdout is not None
        words = self._process.stdout.readline().split()
        if words[:1] != [b"ready"]:
            self.close()
            raise Unavailable(self._log.read_text().strip() or "unshare refused without a word")
        self.pid = int(words[1])
        # As seen from here; the copy's mounts are in no namespace of ours.
        self.root = Path(f"/proc/{self.pid}/root") / ("" if boot else f"{scratch}/root".lstrip("/"))
        self._upper = None if boot else Path(f"/proc/{self.pid}/root{scratch}/upper")
        self._enter = ["nsenter", "--target", str(self.pid), "--mount", "--pid", "--net", "--ipc", "--uts"]
        self._enter += ["--root"] if boot else ["chroot", f"{scratch}/root"]
        try:
            self._before = self._written()
        except OSError as error:
            self.close()
            raise Unavailable(str(error)) from error

    def run(
        self, *command: str, check: bool = True, timeout: float = 60, environment: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command in it, with a bare environment."""
        bare = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/tmp", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
        done = subprocess.run(
            [*self._enter, "/usr/bin/env", "-i", *bare, *environment, *command],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd="/",
        )
        assert not check or done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done

    def changed(self) -> list[str]:
        """What is not as it was at the beginning: paths that were added, changed or deleted."""
        assert self._upper is not None
        return sorted(path for path, how in self._written().items() if self._before.get(path) != how)

    def _written(self) -> dict[str, bytes]:
        """What the upper layer holds that the machine has not: a path, and what it is there."""
        found: dict[str, bytes] = {}
        if self._upper is None:
            return found
        for folder, folders, files in os.walk(self._upper):
            for name in [*folders, *files]:
                upper = Path(folder) / name
                path = upper.relative_to(self._upper)
                lower = Path("/") / path
                kind = upper.lstat().st_mode
                if stat.S_ISDIR(kind):
                    if not lower.is_dir():
                        found[str(path)] = b"directory"
                elif stat.S_ISLNK(kind):
                    if not lower.is_symlink() or os.readlink(lower) != os.readlink(upper):
                        found[str(path)] = os.readlink(upper).encode()
                elif stat.S_ISREG(kind):
                    content = upper.read_bytes()
                    if not lower.is_file() or lower.is_symlink() or lower.read_bytes() != content:
                        found[str(path)] = content
                else:
                    found[str(path)] = b"deleted"
        return found

    def close(self) -> None:
        """Ends everything in it; then nothing of it is left."""
        # The child of unshare is the first process of its namespace: with it all others end.
        self._process.kill()
        self._process.wait(30)
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._cgroup:
            deadline = time.monotonic() + 30
            while "populated 1" in (self._cgroup / "cgroup.events").read_text():
                assert time.monotonic() < deadline, f"processes are left in {self._cgroup}"
                time.sleep(0.01)
            for folder, _, _ in os.walk(self._cgroup, topdown=False):
                os.rmdir(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _own_cgroup() -> Path:
    """A new cgroup below that of this process, which a systemd may rule."""
    groups = Path("/proc/self/cgroup").read_text().splitlines()
    own = next((line[3:].strip() for line in groups if line.startswith("0::")), None)
    if own is None:
        raise Unavailable("this process is in no cgroup of version 2")
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields, _, rest = line.partition(" - ")
        if rest.split()[0] == "cgroup2":
            group = Path(fields.split()[4] + own) / f"bellwire-test-{os.getpid()}"
            try:
                group.mkdir()
            except OSError as error:
                raise Unavailable(f"no cgroup of its own: {error}") from error
            return group
    raise Unavailable("no cgroup2 is mounted")
