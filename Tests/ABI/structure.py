#!/usr/bin/env python3
"""Checks the size of the types and files under Sources.

    structure.py SOURCES

Prints one line per finding and exits with 1 if there are any:

- a struct, class or actor with more than 15 stored properties, property observers and lazy ones included, statics and
  computed properties not. Conditionally compiled properties all count;
- a stored `var` that is a dictionary keyed by PeerID. State per peer belongs in the peer's session (PeerBook). See
  KEYED_BY_PEER;
- a switchboard (DeviceSwitchboard, DesktopSwitchboard; all of its files together) with more than 400 lines, or with more
  than 12 stored properties;
- any Swift file with more than 500 lines;
- an import of a module from a floor above its own, and a folder of SOURCES that is no floor. See FLOORS.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

#: The folders of SOURCES, from the bottom up. A module imports from its own floor and from those below.
FLOORS = ("C", "Foundations", "Network", "Features", "System", "Roles", "Library", "Program")
PROPERTY_LIMIT = 15
SWITCHBOARDS = ("DeviceSwitchboard", "DesktopSwitchboard")
SWITCHBOARD_LIMIT = 400
SWITCHBOARD_PROPERTY_LIMIT = 12
FILE_LIMIT = 500

# Tables of their own by design, with the reason. The relay's tables of connections are exempt as a whole.
KEYED_BY_PEER = {
    "PeerBook.places": "the one place for state kept per peer",
    "Sealer.peers": "replay windows outlive a pairing, and peers that are still pairing have no session",
    "BoxCache.entries": "a bounded cache of keys in locked memory",
    "OutboxWriter.devices": "lives for one transaction",
    "CommandServer.moves": "the two ids of a device that has just moved, until no command with the other one is under way",
    "ReadSchedule.due": "holds only deployed desktops that are connected, and is told of each change of these",
    "KeyMoves.budgets": "statements of a move come before the new id is paired",
}
KEYED_EXEMPT = ("Relay", "Store")

TOKEN = re.compile(r"\n|`\w+`|@?\w+|->|[{}()\[\]<>,:;=.&?!|~+\-*/%^@#]")
IMPORT = re.compile(r"\s*(?:@\w+ )*(?:\w+ )?import (?:(?:struct|class|enum|protocol|typealias|func|let|var) )?(\w+)")
# What may stand between a property's name and its value without ending the declaration.
OPEN_ENDED = {":", "=", ",", "->", "&", ".", "("}
CONTINUES = {"=", "{", "->", ".", "&", ":"}
OPENING = {"(": ")", "[": "]", "{": "}"}


@dataclass
class Finding:
    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


@dataclass
class Property:
    name: str
    # As far as it is written, without spaces.
    type: str
    is_variable: bool


@dataclass
class Type:
    name: str
    line: int
    # Enums and protocols have no stored properties; extensions can't have any.
    stores: bool
    properties: list[Property] = field(default_factory=list)


def without_text(source: str) -> str:
    """Blanks comments and string literals, keeping line breaks. Interpolated expressions are blanked too."""
    out: list[str] = []
    place = 0
    while place < len(source):
        rest = source[place : place + 3]
        if rest.startswith("//"):
            end = source.find("\n", place)
            end = len(source) if end < 0 else end
        elif rest.startswith("/*"):
            end = end_of_comment(source, place)
        elif match := re.compile(r'(#*)("""|")').match(source, place):
            end = end_of_string(source, match.end(), match[1], match[2])
            out.append("_")
        else:
            out.append(source[place])
            place += 1
            continue
        out.append("\n" * source.count("\n", place, end))
        place = end
    return "".join(out)


def end_of_comment(source: str, start: int) -> int:
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(source, start):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    return len(source)


def end_of_string(source: str, start: int, pounds: str, quotes: str) -> int:
    """The index after a literal whose opening quotes end at `start`."""
    escape, closing = "\\" + pounds, quotes + pounds
    place = start
    while place < len(source):
        if source.startswith(escape + "(", place):
            place = end_of_interpolation(source, place + len(escape) + 1)
        elif source.startswith(escape, place):
            place += len(escape) + 1
        elif source.startswith(closing, place):
            return place + len(closing)
        else:
            place += 1
    return place


def end_of_interpolation(source: str, start: int) -> int:
    depth, place = 1, start
    literal = re.compile(r'(#*)("""|")')
    while place < len(source) and depth > 0:
        if match := literal.match(source, place):
            place = end_of_string(source, match.end(), match[1], match[2])
            continue
        depth += {"(": 1, ")": -1}.get(source[place], 0)
        place += 1
    return place


class Parser:
    """Finds type declarations and their stored properties. Knows just enough of Swift's grammar for that."""

    def __init__(self, source: str) -> None:
        text = without_text(source)
        self.tokens: list[str] = []
        self.lines: list[int] = []
        line = 1
        for match in TOKEN.finditer(text):
            self.tokens.append(match[0])
            self.lines.append(line)
            line += match[0] == "\n"
        self.types: list[Type] = []

    def token(self, place: int) -> str:
        return self.tokens[place] if 0 <= place < len(self.tokens) else ""

    def next(self, place: int) -> int:
        """The next token that is no line break."""
        place += 1
        while self.token(place) == "\n":
            place += 1
        return place

    def parse(self) -> list[Type]:
        # The type whose body each open brace begins; None for all other braces.
        braces: list[Type | None] = []
        pending: Type | None = None
        nesting = 0
        place = 0
        while place < len(self.tokens):
            token = self.tokens[place]
            if token in "([":
                nesting += 1
            elif token in ")]":
                nesting -= 1
            elif token == "{":
                braces.append(pending)
                pending = None
            elif token == "}":
                if braces:
                    braces.pop()
            elif nesting == 0 and self.begins_type(place):
                name = self.token(self.next(place)).strip("`")
                stores = token in ("struct", "class", "actor")
                pending = Type(name, self.lines[place], stores)
                self.types.append(pending)
            elif token in ("var", "let") and nesting == 0 and braces and (owner := braces[-1]) and owner.stores:
                if not self.is_static(place):
                    owner.properties += self.stored(place)
            place += 1
        return self.types

    def begins_type(self, place: int) -> bool:
        if self.token(place) not in ("struct", "class", "actor", "enum", "protocol", "extension"):
            return False
        following = self.token(self.next(place))
        return (
            self.token(place - 1) not in (".", ":", ",")
            and bool(re.match(r"[`A-Z_a-z]", following))
            and (following not in ("var", "let", "func", "subscript", "override", "private", "final"))
        )

    def is_static(self, place: int) -> bool:
        """Whether one of the modifiers before `var` or `let` makes it a type property."""
        place -= 1
        while (token := self.token(place)) not in ("", "\n", "{", "}", ";"):
            if token in ("static", "class"):
                return True
            place -= 1
        return False

    def stored(self, place: int) -> list[Property]:
        """The stored properties that one `var` or `let` declares."""
        is_variable = self.token(place) == "var"
        properties: list[Property] = []
        place = self.next(place)
        while True:
            if self.token(place) == "(":
                end = self.skip(place)
                names = [t for t in self.tokens[place:end] if re.match(r"\w", t)]
            else:
                end = place + 1
                names = [self.token(place).strip("`")]
            end, annotation = self.annotation(end)
            is_computed = False
            if self.token(end) == "=":
                end = self.initializer(end)
            elif self.token(end) == "{":
                is_computed = self.token(self.next(end)) not in ("willSet", "didSet")
            if not is_computed:
                properties += [Property(name, annotation, is_variable) for name in names]
            if self.token(end) != ",":
                return properties
            place = self.next(end)

    def skip(self, place: int) -> int:
        """The index after the bracket that closes the one at `place`."""
        depth = 0
        while place < len(self.tokens):
            token = self.tokens[place]
            depth += (token in OPENING) - (token in OPENING.values())
            place += 1
            if depth == 0:
                break
        return place

    def annotation(self, place: int) -> tuple[int, str]:
        """Reads a type up to the `=`, `{`, `,` or line end that ends it."""
        text: list[str] = []
        angles = 0
        while place < len(self.tokens):
            token = self.tokens[place]
            if token == "\n":
                following = self.token(self.next(place))
                if (text and text[-1] in OPEN_ENDED) or following in CONTINUES or angles > 0:
                    place = self.next(place - 1) if self.token(place) != "\n" else self.next(place)
                    continue
                break
            if token in ("(", "["):
                end = self.skip(place)
                text += [t for t in self.tokens[place:end] if t != "\n"]
                place = end
                continue
            if token in ("=", "{", "}", ";") or (token == "," and angles == 0):
                break
            angles += {"<": 1, ">": -1}.get(token, 0)
            text.append(token)
            place += 1
        return place, "".join(text).removeprefix(":")

    def initializer(self, place: int) -> int:
        """The index of what follows an initial value: a comma, or anything that ends the declaration."""
        last = "="
        place += 1
        while place < len(self.tokens):
            token = self.tokens[place]
            if token in OPENING:
                place = self.skip(place)
                last = ")"
                continue
            if token in (",", ";", "}"):
                break
            if token == "\n":
                following = self.token(self.next(place))
                if last not in OPEN_ENDED | {"?"} and following not in {".", "?", ":", "+", "-", "&", "|"}:
                    break
            else:
                last = token
            place += 1
        return place


def check(sources: Path) -> list[Finding]:
    findings: list[Finding] = []
    switchboards = dict.fromkeys(SWITCHBOARDS, 0)
    for path in sorted(sources.rglob("*.swift")):
        source = path.read_text(encoding="utf-8")
        count = len(source.splitlines())
        if count > FILE_LIMIT:
            findings.append(Finding(path, 1, f"{count} lines; at most {FILE_LIMIT}"))
        for name in SWITCHBOARDS:
            if path.stem == name or path.stem.startswith(name + "+"):
                switchboards[name] += count
                if switchboards[name] > SWITCHBOARD_LIMIT:
                    findings.append(
                        Finding(path, 1, f"{name} has {switchboards[name]} lines; at most {SWITCHBOARD_LIMIT}")
                    )
        module = path.relative_to(sources).parts[1]
        for type in Parser(source).parse():
            findings += check_type(path, module, type)
    return findings


def check_floors(sources: Path) -> list[Finding]:
    findings: list[Finding] = []
    floors: dict[str, int] = {}
    for folder in sorted(path for path in sources.iterdir() if path.is_dir()):
        if folder.name in FLOORS:
            floors |= {module.name: FLOORS.index(folder.name) for module in folder.iterdir()}
        else:
            findings.append(Finding(folder, 1, f"{folder.name} is not a floor"))
    for path in sorted(sources.rglob("*.swift")):
        module = path.relative_to(sources).parts[1]
        for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = IMPORT.match(text)
            if found and floors.get(found[1], 0) > floors.get(module, len(FLOORS)):
                text = f"{module} imports {found[1]} from {FLOORS[floors[found[1]]]}, a floor above its own"
                findings.append(Finding(path, line, text))
    return findings


def check_type(path: Path, module: str, type: Type) -> list[Finding]:
    findings: list[Finding] = []
    limit = SWITCHBOARD_PROPERTY_LIMIT if type.name in SWITCHBOARDS else PROPERTY_LIMIT
    if len(type.properties) > limit:
        names = ", ".join(property.name for property in type.properties)
        text = f"{type.name} has {len(type.properties)} stored properties; at most {limit}: {names}"
        findings.append(Finding(path, type.line, text))
    if module not in KEYED_EXEMPT:
        for property in type.properties:
            name = f"{type.name}.{property.name}"
            is_keyed = re.match(r"\[PeerID:|Dictionary<PeerID,", property.type)
            if property.is_variable and is_keyed and name not in KEYED_BY_PEER:
                text = f"{name} is keyed by peer: keep it in the peer's session, or give a reason in KEYED_BY_PEER"
                findings.append(Finding(path, type.line, text))
    return findings


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    findings = check(Path(sys.argv[1])) + check_floors(Path(sys.argv[1]))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
