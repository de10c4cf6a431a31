#!/usr/bin/env python3
"""Prints what programs that were compiled with a header depend on, one line each, sorted.

    Tests/ABI/interface.py HEADER

The lines are functions with their types, callback types, other types, and the numbers of statuses and flags. If a line
of an older header is missing here, programs that were compiled with that one may break.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path


def interface(header: str) -> list[str]:
    # BW_ABI_VERSION grows with every addition; a macro of functions names what is declared by itself as well.
    constants = re.findall(r"^#define (BW_(?!API\b|ABI_VERSION\b|VERSION\b)\w+) +(\S+)$", header, re.MULTILINE)
    code = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL)
    code = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", code, flags=re.MULTILINE)
    code = re.sub(r'extern "C" \{', "", code)
    lines = [f"#define {name} {value}" for name, value in constants]
    for declaration in declarations(code):
        lines += enumerators(declaration) if declaration.startswith("enum ") else [declaration]
    return sorted(lines)


def declarations(code: str) -> Iterator[str]:
    """The texts between semicolons outside of braces, with single spaces."""
    depth = 0
    begin = 0
    for place, character in enumerate(code):
        depth += (character == "{") - (character == "}")
        if character == ";" and depth <= 0:
            text = " ".join(code[begin:place].replace("BW_API", "").strip(" \n}").split())
            if text:
                yield text + ("}" if "{" in text and not text.endswith("}") else "")
            begin = place + 1


def enumerators(declaration: str) -> list[str]:
    """One line for each, with its number."""
    name, _, body = declaration.partition("{")
    lines = []
    number = -1
    for entry in body.rstrip("} ").split(","):
        if entry.strip():
            symbol, _, value = entry.partition("=")
            number = int(value, 0) if value.strip() else number + 1
            lines.append(f"{name.strip()}: {symbol.strip()} = {number}")
    return lines


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: Tests/ABI/interface.py HEADER")
    print("\n".join(interface(Path(sys.argv[1]).read_text())))
