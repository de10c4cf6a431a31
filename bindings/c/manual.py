#!/usr/bin/env python3
"""Writes the manual pages of the C interface, section 3, from the comments of the public headers.

    manual.py --include DIR --date DATE --output DIR

    --include DIR   with bellwire.h and bellwire_jansson.h
    --date DATE     of the pages, as in ManualPage.swift
    --output DIR    where the pages go: share/man/man3

Each group of a header is a page: bw_device(3), bw_pairing(3), …; bellwire(3) has what applies to all of them. The name of
each function, type and status leads to its group's page.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

#: Of the pages, for the line by which apropos(1) finds them.
TITLES = {
    "bellwire": "end-to-end encrypted push notifications between your own machines",
    "bw_library": "version, memory, errors and log of the Bellwire library",
    "bw_device": "open a device of Bellwire, start it and dispatch its events",
    "bw_pairing": "pair a device of Bellwire with desktops",
    "bw_methods": "call the methods of a desktop of Bellwire",
    "bw_inbox": "the notifications that a device of Bellwire has stored",
    "bw_queue": "commands of a device of Bellwire that wait for an offline desktop",
    "bw_alerts": "alerts of a device of Bellwire",
    "bw_reminders": "a program's own reminders, shown as alerts by Bellwire",
    "bw_events": "subscribe to the events of a device of Bellwire",
    "bw_push_services": "a device of Bellwire and push services",
    "bw_desktop": "a desktop of Bellwire: it pairs devices, pushes to them and keeps the history",
    "bw_relay": "a relay of Bellwire: it forwards frames between peers",
    "bw_json": "read a value from JSON of the Bellwire library",
    "bw_qr": "draw and read QR codes with Bellwire",
    "bwj_json": "values of jansson for the functions of Bellwire",
    "bwj_callbacks": "callbacks of Bellwire that get values of jansson",
    "bwj_device": "a device of Bellwire with values of jansson",
    "bwj_methods": "the methods of a desktop of Bellwire with values of jansson",
    "bwj_desktop": "a desktop of Bellwire with values of jansson",
    "bwj_relay": "a relay of Bellwire with values of jansson",
}


@dataclass
class Entry:
    """Declarations that share a comment."""

    comment: list[str]
    code: list[str] = field(default_factory=list)
    #: A macro of bellwire_jansson.h declares them: one for each method of bellwire.h.
    wrapped: bool = False

    @property
    def names(self) -> list[str]:
        """What it declares: functions, types, constants of enums and macros."""
        code = re.sub(r"/\*.*?\*/", "", "\n".join(self.code), flags=re.DOTALL)
        found = re.findall(r"\b(bwj?_\w+)\(", code)
        found += re.findall(r"^typedef [^(;]*?\b(bw_\w+);", code, re.MULTILINE)
        found += re.findall(r"^typedef .*\(\*(bwj?_\w+)\)", code, re.MULTILINE)
        found += re.findall(r"^enum (bw_\w+)", code, re.MULTILINE)
        found += re.findall(r"\b(BW_\w+) = ", code) + re.findall(r"^#define (BW_\w+)", code, re.MULTILINE)
        return list(dict.fromkeys(found))

    @property
    def functions(self) -> list[str]:
        code = "\n".join(each for each in self.code if not each.startswith(("typedef", "#", "enum", "struct")))
        return [name for name in self.names if re.search(rf"\b{name}\(", code)]


@dataclass
class Group:
    page: str
    title: str
    header: str
    comment: list[str]
    entries: list[Entry] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for entry in self.entries for name in entry.names))


# MARK: Reading a header


def stripped(comment: str) -> list[str]:
    """The lines of a comment without its stars; columns stay as they are."""
    lines = [re.sub(r"^ \* ?", "", line) for line in re.sub(r"^/\* ?|\s*\*/$", "", comment.strip()).split("\n")]
    return [line.rstrip() for line in lines if not re.match(r"^={20,}", line)]


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Comments and code at the outermost level, in their order: a declaration ends with a semicolon or a brace."""
    # The braces of the block for C++ are not those of a declaration.
    text = text.replace('extern "C" {\n', "").replace("#ifdef __cplusplus\n}\n", "#ifdef __cplusplus\n")
    comment = re.compile(r"/\*.*?\*/[ \t]*\n", re.DOTALL)
    macro = re.compile(r"#(?:[^\n]*\\\n)*[^\n]*\n")
    at = 0
    while at < len(text):
        if text[at] == "\n":
            at += 1
        elif found := comment.match(text, at):
            yield "comment", found.group()
            at = found.end()
        elif found := macro.match(text, at):
            yield "macro", found.group()
            at = found.end()
        else:
            begin, depth = at, 0
            while at < len(text):
                if found := comment.match(text, at):
                    at = found.end()
                    continue
                depth += (text[at] == "{") - (text[at] == "}")
                at += 1
                if depth == 0 and (text[at - 1] == ";" or (text[at - 1] == "}" and text[at : at + 1] == "\n")):
                    break
            at = text.find("\n", at) + 1 or len(text)
            yield "code", text[begin:at]


def groups_of(header: str, text: str) -> tuple[list[str], list[Group]]:
    """The comment at the head of a header, and its groups."""
    head: list[str] = []
    groups: list[Group] = []
    for kind, piece in pieces(text):
        if kind == "comment":
            lines = stripped(piece)
            if piece.startswith("/* ====="):
                lines = [line for line in lines if line] if len(lines) < 3 else lines
                while lines and not lines[0]:
                    lines.pop(0)
                title = lines.pop(0)
                words = "_".join(re.findall(r"\w+", title.lower()))
                prefix = "bwj_" if "jansson" in header else "bw_"
                groups.append(Group(prefix + words, title, header, lines))
            elif not groups:
                head = head or lines
            else:
                groups[-1].entries.append(Entry(lines))
        elif groups:
            if piece.startswith("#define BWJ_METHOD_("):
                groups[-1].entries[-1].wrapped = True
                continue
            # Names that end in _ are internal.
            is_internal = re.match(r"[^(]*\(?\*?[^()]*\b\w+_\b", declaration(piece).split("(")[0]) or re.match(
                r"typedef [^(]*\(\*\w+_\)", piece
            )
            if is_internal or not (kind == "code" or re.match(r"#define BW_\w+[ (]", piece)):
                continue
            if not groups[-1].entries or (kind == "macro" and groups[-1].entries[-1].code):
                groups[-1].entries.append(Entry([]))
            groups[-1].entries[-1].code.append(declaration(piece))
    for group in groups:
        group.entries = [entry for entry in group.entries if entry.code or entry.wrapped]
    return head, [group for group in groups if group.entries]


def declaration(code: str) -> str:
    """As a reader of a manual needs it: without the attribute, and without the body of a macro or an inline function."""
    if code.startswith("#"):
        return code.split("\\\n")[0].rstrip()
    if code.startswith("BW_API "):
        # Continued lines stay below the parenthesis.
        code = re.sub(r"\n {7}", "\n", code.removeprefix("BW_API "))
    code = code.rstrip()
    if code.startswith("static inline"):
        code = code.split("{")[0].strip().removeprefix("static inline ") + ";"
        # Continued lines follow the parenthesis.
        code = " ".join(code.split())
    return code


# MARK: Roff


def escaped(text: str) -> str:
    """Text as it is to be read and copied; see Roff.swift."""
    special = {"\\": "(rs", "-": "-", "'": "(aq", "`": "(ga", "^": "(ha", "~": "(ti", '"': "(dq"}
    out = "".join(
        f"\\{special[each]}" if each in special else each if each.isascii() else f"\\[u{ord(each):04X}]"
        for each in text
    )
    # JSON has no spaces to break a line at.
    out = re.sub(r"([,|{])(?=[^\s])", r"\1\\:", out)
    return f"\\&{out}" if out.startswith(".") else out


def prose(text: str) -> str:
    """A paragraph: names of the interface are bold."""
    parts = re.split(r"(\bbwj?_\w+(?:\(\))?|\bBW_\w+)", text)
    words = "".join(f"\\fB{escaped(each)}\\fR" if index % 2 else escaped(each) for index, each in enumerate(parts))
    # The first word alone stands at the beginning of a line.
    return re.sub(r"^(?=[.'])", r"\\&", words)


def code_block(text: str) -> list[str]:
    """Lines as they stand."""
    lines = [escaped(line) or r"\&" for line in text.split("\n")]
    return [".PP", ".RS 4", ".nf", *lines, ".fi", ".RE"]


def description(lines: list[str]) -> list[str]:
    """The text of a comment: paragraphs, and terms with what they mean. A term's text begins in the column of the lines
    below it, or, in one line, where the text of the term above begins."""
    out: list[str] = []
    paragraph: list[str] = []
    column: int | None = None
    columns = {len(line) - len(line.lstrip()) for line in lines} - set(range(6))

    def flush() -> None:
        if paragraph:
            out.append(prose(" ".join(" ".join(paragraph).split())))
            paragraph.clear()

    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        below = lines[number + 1] if number + 1 < len(lines) else ""
        next_indent = len(below) - len(below.lstrip())
        if not line:
            flush()
            column = None
            continue
        if column is not None and indent >= column:
            paragraph.append(line)
            continue
        gap = re.match(r"^(\s*\S.*?)\s{2,}(?=\S)", line)
        start = None
        if next_indent > max(indent, 5) and line[next_indent - 1 : next_indent] == " " and line[next_indent:].strip():
            start = next_indent
        elif gap and next_indent > max(indent, 5):
            start = gap.end()
        elif gap and indent >= 2 and (found := [each for each in columns if re.match(r"\S", line[each:])]):
            fitting = [each for each in found if line[each - 1] == " " and re.search(r"\S\s{2,}", line[:each] + " ")]
            start = max(fitting, default=None)
        elif gap and (column == gap.end() or (column is None and _is_term(below, gap.end()))):
            start = gap.end()
        if start is None:
            if column is not None or not paragraph:
                flush()
                out.append(".PP")
                column = None
            paragraph.append(line)
            continue
        flush()
        column = min(start, next_indent) if next_indent > indent else start
        out += [".TP", prose(" ".join(line[:start].split()))]
        paragraph.append(line[start:])
    flush()
    return out


def _is_term(line: str, column: int) -> bool:
    """Whether a line is a term, too, whose text begins in that column."""
    gap = re.match(r"^\s*\S.*?\s{2,}(?=\S)", line)
    return gap is not None and gap.end() == column


# MARK: Pages


def page(name: str, title: str, names: list[str], version: str, date: str, body: list[str], others: list[str]) -> str:
    """A page; `names` are what it is found by."""
    found = ", ".join(escaped(each) for each in dict.fromkeys([name, *names]))
    see = ",\n".join(f"\\fB{escaped(each)}\\fR(3)" for each in others if each != name)
    lines = [
        f'.TH {name.upper()} 3 {date} "bellwire {version}" "Bellwire"',
        # Names of options and events are not to be broken.
        ".nh",
        ".ad l",
        ".SH NAME",
        f"{found} \\- {escaped(title)}",
        *body,
        ".SH SEE ALSO",
        f"{see},\n\\fBbellwire\\fR(1)",
    ]
    return "\n".join(lines) + "\n"


def synopsis(header: str) -> list[str]:
    packages = "bellwire jansson" if "jansson" in header else "bellwire"
    lines = [f"#include <{header}>", "", f"cc program.c $(pkg-config --cflags --libs {packages})"]
    return [".SH SYNOPSIS", ".nf", *(f"\\fB{escaped(line)}\\fR" if line else r"\&" for line in lines), ".fi"]


def group_body(group: Group) -> list[str]:
    lines = synopsis(group.header)
    if any(group.comment):
        lines += [".SH DESCRIPTION", *description(group.comment)[1 if group.comment[0] else 0 :]]
        lines = [line for number, line in enumerate(lines) if not (line == ".PP" and lines[number - 1][:3] == ".SH")]
    for title, wanted in (("FUNCTIONS", True), ("TYPES AND CONSTANTS", False)):
        entries = [entry for entry in group.entries if bool(entry.functions or entry.wrapped) == wanted]
        if not entries:
            continue
        lines.append(f".SH {title}")
        for entry in entries:
            called = [f"{each}()" for each in entry.functions] or entry.names[:1]
            if entry.wrapped:
                called = ["bwj_notification_<name>()", "bwj_notification_<name>_async()"]
            lines.append(f'.SS "{", ".join(escaped(each) for each in called)}"')
            text = description(entry.comment)
            if entry.code:
                lines += code_block("\n".join(entry.code))[1:]
            lines += text[1:] if text[:1] == [".PP"] and not entry.code else text
    return lines


def overview(head: list[str], groups: list[Group]) -> list[str]:
    lines = [*synopsis("bellwire.h"), ".SH DESCRIPTION"]
    text = [line for line in head if not line.startswith(("bellwire.h - ", "Copyright"))]
    lines += description(text)
    lines = [line for number, line in enumerate(lines) if not (line == ".PP" and lines[number - 1][:3] == ".SH")]
    lines.append(".SH GROUPS")
    for group in groups:
        functions = [name for entry in group.entries for name in entry.functions]
        lines += [".TP", f"\\fB{escaped(group.page)}\\fR(3)", prose(", ".join(f"{name}()" for name in functions) + ".")]
    return lines


def write(include: Path, date: str, output: Path) -> None:
    """Replaces the pages in the directory."""
    texts = {name: (include / name).read_text() for name in ("bellwire.h", "bellwire_jansson.h")}
    version = re.findall(r'^#define BW_VERSION "(.*)"$', texts["bellwire.h"], re.MULTILINE)[0]
    head, groups = groups_of("bellwire.h", texts["bellwire.h"])
    _, jansson = groups_of("bellwire_jansson.h", texts["bellwire_jansson.h"])
    groups += jansson
    pages = ["bellwire", *(group.page for group in groups)]
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("*.3"):
        old.unlink()
    written: dict[str, str] = {
        "bellwire": page("bellwire", TITLES["bellwire"], [], version, date, overview(head, groups), pages)
    }
    for group in groups:
        if group.page not in TITLES:
            raise SystemExit(f"manual.py: TITLES has no entry for {group.page}")
        written[group.page] = page(group.page, TITLES[group.page], group.names, version, date, group_body(group), pages)
    methods = [name for group in groups for name in group.names if name.startswith("bw_notification_")]
    for group in groups:
        wrapped = [name.replace("bw_", "bwj_", 1) for name in methods] if any(e.wrapped for e in group.entries) else []
        for name in [*group.names, *wrapped]:
            written.setdefault(name, f".so man3/{group.page}.3\n")
    for name, text in written.items():
        (output / f"{name}.3").write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", type=Path, required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    write(options.include, options.date, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
