"""What a push, a command and a pairing pass through: source files and lines, by callgrind on the release library.

    paths.py [--stage DIR] [--files]

--stage DIR   the tree that bindings/c/build.sh made (default: $BELLWIRE_STAGE, or build/stage in the checkout)
--files       also lists the files with at least 15 executed lines, and how many lines of each

Relay, desktop and device run in one process (Tests/Benchmarks/path.c), over real sockets and with their databases on disk.
A line counts once, however often it runs; work in the background that a push causes, such as indexing, counts too.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: A file with fewer executed lines only forwards, or holds a value.
SUBSTANTIVE = 15


@dataclass(frozen=True)
class Passage:
    """The executed lines of each file under Sources."""

    name: str
    lines: dict[str, int]

    @property
    def substantive(self) -> dict[str, int]:
        return {file: count for file, count in self.lines.items() if count >= SUBSTANTIVE}

    @property
    def modules(self) -> set[str]:
        return {file.split("/")[2] for file in self.lines}


def read(profile: Path) -> Passage:
    lines: defaultdict[str, set[int]] = defaultdict(set)
    name, file, is_call = "", "", False
    for text in profile.read_text(errors="replace").splitlines():
        if found := re.match(r"desc: Trigger: Client Request: (.*)", text):
            name = found[1]
        elif found := re.match(r"f[lie]=(.*)", text):
            file = "Sources/" + found[1].split("Sources/")[-1] if "Sources/" in found[1] else ""
        elif text.startswith("calls="):
            is_call = True
        elif found := re.match(r"(\d+) (\d+)$", text):
            # The line after `calls=` has the cost of what was called.
            if not is_call and file and int(found[1]) > 0 and int(found[2]) > 0:
                lines[file].add(int(found[1]))
            is_call = False
    return Passage(name, {file: len(numbers) for file, numbers in lines.items()})


def measure(stage: Path) -> dict[str, Passage]:
    """By name: push, unshared-push, command, pairing."""
    with tempfile.TemporaryDirectory(prefix="bellwire-paths-") as folder:
        work = Path(folder)
        program = work / "path"
        source = ROOT / "Tests/Benchmarks/path.c"
        flags = ["-std=c99", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        library = [f"-L{stage / 'lib'}", f"-Wl,-rpath,{stage / 'lib'}", "-lbellwire"]
        subprocess.run(["cc", *flags, f"-I{stage / 'include'}", source, "-o", program, *library], check=True)
        (work / "state").mkdir()
        options = ["--dump-line=yes", "--compress-strings=no", "--compress-pos=no"]
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", *options, f"--callgrind-out-file={work}/out", program, work / "state"],
            capture_output=True,
            check=False,
            text=True,
            timeout=300,
        )
        if done.returncode != 0:
            raise RuntimeError(f"path.c ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        passages = [read(profile) for profile in work.glob("out.*")]
    return {passage.name: passage for passage in passages if passage.name}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", type=Path, default=Path(os.environ.get("BELLWIRE_STAGE", ROOT / "build/stage")))
    parser.add_argument("--files", action="store_true")
    arguments = parser.parse_args()
    passages = measure(arguments.stage.resolve())
    print(f"{'':16}{'files':>8}{f'>= {SUBSTANTIVE} lines':>14}{'modules':>10}")
    for name in ("push", "unshared-push", "command", "pairing"):
        passage = passages[name]
        print(f"{name:16}{len(passage.lines):8}{len(passage.substantive):14}{len(passage.modules):10}")
        if arguments.files:
            for file, count in sorted(passage.substantive.items(), key=lambda item: -item[1]):
                print(f"    {count:4}  {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
