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

APACHE = """
Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with the
License.

On Debian systems, the complete text of the Apache License, Version 2.0, is in /usr/share/common-licenses/Apache-2.0.
"""

TEXTS = {
    SWIFT: f"""{APACHE}
As an exception, if you use this Software to compile your source code and portions of this Software are embedded into the
binary product as a result, you may redistribute such product without providing attribution as would otherwise be
required by Sections 4(a), 4(b) and 4(d) of the License.
""",
    LLVM: f"""{APACHE}
As an exception, if, as a result of your compiling your source code, portions of this Software are embedded into an Object
form of such source code, you may redistribute such embedded portions in such Object form without complying with the
conditions of Sections 4(a), 4(b) and 4(d) of the License.
""",
    GCC: """
This program is free software; you can redistribute it and/or modify it under the terms of the GNU General Public License
as published by the Free Software Foundation; either version 3, or (at your option) any later version.

Under Section 7 of GPL version 3, you are granted additional permissions described in the GCC Runtime Library Exception,
version 3.1, as published by the Free Software Foundation: a work that results from combining it with independent modules
by an eligible compilation process may be conveyed under terms of your choice.

On Debian systems, the complete text of the GNU General Public License, version 3, is in
/usr/share/common-licenses/GPL-3.
""",
    LGPL: """
This library is free software; you can redistribute it and/or modify it under the terms of the GNU Lesser General Public
License as published by the Free Software Foundation; either version 2.1, or (at your option) any later version.

In addition, the Free Software Foundation gives you unlimited permission to link the compiled version of the parts that
are linked into programs with other programs, and to distribute those without restriction from the use of these parts.

On Debian systems, the complete text of the GNU Lesser General Public License, version 2.1, is in
/usr/share/common-licenses/LGPL-2.1.
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
