#!/usr/bin/env python3
"""Prints debian/copyright: the project's own licence, and those of everything that its binaries have inside.

    copyright.py --licence FILE --sbom FILE

    --licence FILE   the project's LICENSE
    --sbom FILE      the SBOM that link.sh made of what the linker has read: share/doc/bellwire/bellwire.spdx.json

A part of the SBOM that is not described here is an error: add it to PARTS.
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What has the parts inside, in the tree that the packages are made in.
BINARIES = "stage/bin/bellwire stage/lib/libbellwire.a stage/lib/libbellwire.so.1"


@dataclass(frozen=True)
class Part:
    """A project of others, as copyright files name it."""

    holders: tuple[str, ...]
    licences: tuple[str, ...]
    #: What else is to be said of it.
    note: str = ""


EXPAT = "Expat"
SWIFT = "Apache-2.0 with Swift exception"
LLVM = "Apache-2.0 with LLVM exception"
GCC = "GPL-3+ with GCC exception"
LGPL = "LGPL-2.1+"

PARTS = {
    "gcc": Part(("1985-2022 Free Software Foundation, Inc.", "1994 Hewlett-Packard Company"), (GCC,)),
    "glibc": Part(("1991-2022 Free Software Foundation, Inc.",), (LGPL,)),
    "jansson": Part(("2009-2014 Petri Lehtinen <petri@digip.org>", "2011 Basile Starynkevitch"), (EXPAT,)),
    "libuv1": Part(
        ("2015-2021 libuv project contributors", "2011-2015 Joyent, Inc. and other Node contributors"), (EXPAT,)
    ),
    "swift": Part(
        (
            "2008-2026 Apple Inc. and the Swift project authors",
            "2003-2026 University of Illinois at Urbana-Champaign and the LLVM project authors",
        ),
        (SWIFT, LLVM),
        "its runtime contains parts of LLVM",
    ),
}

# In our own words: the texts themselves come from the machine that builds, and stand in the directory "licences".
TEXTS = {
    SWIFT: """
Version 2.0 of the Apache License, with the Runtime Library Exception of the Swift project: a compiled program that has
parts of the runtime inside need not say so. The whole text is in licences/swift.txt, and that of the Apache License also
in /usr/share/common-licenses/Apache-2.0.
""",
    LLVM: """
Version 2.0 of the Apache License, with the exceptions of the LLVM project: parts that a compiler has put into a program
need not be named. The text of the Apache License is in /usr/share/common-licenses/Apache-2.0.
""",
    GCC: """
Version 3 or later of the GNU General Public License, with the GCC Runtime Library Exception: a program that was compiled
by GCC may have any licence. The whole text is in licences/gcc.txt, and that of the GPL also in
/usr/share/common-licenses/GPL-3.
""",
    LGPL: """
Version 2.1 or later of the GNU Lesser General Public License, with the permission to link these parts into programs of
any licence. The whole text is in licences/glibc.txt, and that of the LGPL also in /usr/share/common-licenses/LGPL-2.1.
""",
}


def block(text: str) -> str:
    """The further lines of a field: an empty one is a dot."""
    paragraphs = [textwrap.fill(" ".join(part.split()), 78) for part in text.strip().split("\n\n")]
    return "\n".join(f" {line}" if line else " ." for line in "\n\n".join(paragraphs).split("\n"))


def copyright_file(licence: str, parts: list[dict[str, Any]]) -> str:
    """The file, in the format of DEP 5."""
    unknown = sorted({part["name"] for part in parts} - PARTS.keys())
    if unknown:
        raise SystemExit(f"copyright.py: PARTS says nothing of {', '.join(unknown)}")
    _, _, permission = licence.partition("Permission is hereby granted")
    ours = next(line for line in licence.splitlines() if line.startswith("Copyright")).split(None, 2)[2]
    known = [(part, PARTS[part["name"]]) for part in parts]
    licences = list(dict.fromkeys([EXPAT, *(name for _, part in known for name in part.licences)]))
    inside = []
    for part, of in known:
        files = part.get("comment", "").removeprefix("inside: ")
        note = f"; {of.note}" if of.note else ""
        inside.append(f"{part['name']} {part['versionInfo']} ({files}), {' and '.join(of.licences)}{note}.")
    holders = [ours, *dict.fromkeys(holder for _, part in known for holder in part.holders)]
    stanzas = [
        "\n".join(
            [
                "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/",
                "Upstream-Name: Bellwire",
                "Source: @HOMEPAGE@",
            ]
        ),
        f"Files: *\nCopyright: {ours}\nLicense: {EXPAT}",
        "\n".join(
            [
                f"Files: {BINARIES}",
                "Copyright: " + "\n ".join(holders),
                f"License: {' and '.join(licences)}",
                "Comment:",
                block(
                    "Linked statically into these files, as bellwire.spdx.json beside this file lists it; the directory "
                    "licences has the texts as each project publishes them:\n\n" + "\n\n".join(inside)
                ),
            ]
        ),
    ]
    texts = {EXPAT: f"Permission is hereby granted{permission}", **TEXTS}
    stanzas += [f"License: {name}\n{block(texts[name])}" for name in licences]
    return "\n\n".join(stanzas) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--licence", type=Path, required=True)
    parser.add_argument("--sbom", type=Path, required=True)
    options = parser.parse_args()
    _, *parts = json.loads(options.sbom.read_text())["packages"]
    sys.stdout.write(copyright_file(options.licence.read_text(), parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
