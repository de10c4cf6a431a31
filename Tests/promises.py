#!/usr/bin/env python3
"""Compares what the README and the header promise with the pages that name a test for each promise.

    Tests/promises.py [ROOT]

A promise is a sentence of the README's section "Security", or words of include/bellwire.h with "exactly once", "never",
"every", "always" or "at most". The README's known limits are promises only where they contain such a word, or one that
denies something.

Each page in PAGES quotes promises verbatim, between “ and ” in a paragraph that begins so, and lists their tests below:
a file, a colon, and names of tests in it. A finding is: a quotation that the README and the header don't contain, or
contain more than once; a promise that no page quotes; a quotation without a test; a test that doesn't exist. Prints one
line for each, and exits with 1 if there are any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PAGES = ("PromisesAndTests.md", "HeaderPromisesAndTests.md")
FOLDER = "Tests/Support/Quality"

#: What makes words of the header a promise.
PROMISES = re.compile(r"\b(?:exactly once|never|every|always|at most)\b", re.IGNORECASE)
#: Sentences about limits promise something where they deny something of an attacker.
DENIALS = re.compile(rf"{PROMISES.pattern}|\b(?:can't|cannot|nobody|no effect|allows only)\b", re.IGNORECASE)


@dataclass
class Source:
    """A text that promises, in paragraphs with single spaces, and the places that a page must quote."""

    name: str
    text: str
    #: Begin and end of each promise, in `text`.
    promises: list[tuple[int, int]] = field(default_factory=list)
    quoted: list[tuple[int, int]] = field(default_factory=list)

    def unquoted(self) -> Iterator[str]:
        for begin, end in self.promises:
            place = begin
            for first, last in sorted(self.quoted):
                if first <= place < last:
                    # A page may quote two sentences apart.
                    place = last + (self.text[last] == " ")
            if place < end:
                yield sentence(self.text, place)


@dataclass
class Group:
    """Quotations that are tested together, and their tests: pairs of a file and a name."""

    page: str
    line: int
    quotations: list[str] = field(default_factory=list)
    tests: list[tuple[str, str]] = field(default_factory=list)
    #: What is in the list of tests, but is not one.
    unreadable: list[str] = field(default_factory=list)


def sentence(text: str, place: int) -> str:
    """The sentence around a place, shortened."""
    begin = max((text.rfind(end, 0, place) + len(end) for end in (". ", "\n") if end in text[:place]), default=0)
    found = re.compile(r"[.;](?= )|\n").search(text, place)
    return text[begin : found.end() if found else len(text)].strip()[:200]


# MARK: What promises


def readme(path: Path) -> Source:
    section = re.search(r"^## Security\n(.*?)(?=^## |\Z)", path.read_text(), re.DOTALL | re.MULTILINE)
    if section is None:
        return Source("README.md", "")
    promised, _, limits = section[1].partition("\nKnown limits:\n")
    source = Source("README.md", "")
    for part, words in ((promised, re.compile(r"\S(?:.*\S)?")), (limits, DENIALS)):
        for item in re.split(r"\n(?=- )|\n\s*\n", part.strip()):
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(item.removeprefix("- ").split()))
            # The word in bold says what the sentences after it are about.
            text = re.sub(r"^\*\*[^*]*\*\* ?", "", text)
            add(source, text, words)
    return source


def header(path: Path) -> Source:
    source = Source("include/bellwire.h", "")
    for comment in re.finditer(r"/\*(.*?)\*/", path.read_text(), re.DOTALL):
        lines = (re.sub(r"={4,}", "", line.strip()).lstrip("*") for line in comment[1].splitlines())
        add(source, " ".join(" ".join(lines).split()), PROMISES)
    return source


def add(source: Source, text: str, promises: re.Pattern[str]) -> None:
    begin = len(source.text)
    source.text += text + "\n"
    source.promises += [(begin + found.start(), begin + found.end()) for found in promises.finditer(text)]


# MARK: What is tested

TESTS = re.compile(r"`(?P<file>Tests/[^`]+)`: (?P<names>`\w+`(?:, `\w+`)*)")


def groups(path: Path) -> Iterator[Group]:
    """The quotations of a page, each paragraph of them with the list of tests that follows it."""
    group: Group | None = None
    #: The lines of the paragraph or of the item that is being read.
    lines: list[str] = []
    is_item = False

    def settle(group: Group | None) -> None:
        text = " ".join(" ".join(lines).split())
        lines.clear()
        if group is None or not text:
            return
        if not is_item:
            # A page escapes what would be Markdown.
            group.quotations += [re.sub(r"\\([*_<])", r"\1", words) for words in re.findall("“([^”]*)”", text)]
        elif found := TESTS.fullmatch(text):
            group.tests += [(found["file"], name) for name in re.findall(r"\w+", found["names"])]
        else:
            group.unreadable.append(text)

    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("“") and (is_item or not lines):
            settle(group)
            if group is not None:
                yield group
            group = Group(path.name, number)
            lines, is_item = [line], False
        elif line.startswith("- "):
            settle(group)
            lines, is_item = [line.removeprefix("- ")], True
        elif not line.strip() or line.startswith("#"):
            settle(group)
            is_item = False
        else:
            lines.append(line)
    settle(group)
    if group is not None:
        yield group


def names(path: Path) -> set[str]:
    """The names of the tests in a file."""
    text = path.read_text()
    match path.suffix:
        case ".swift":
            # A test's description may say "func".
            text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r'""".*?"""', "", text, flags=re.DOTALL))
            return {found[1] for found in re.finditer(r"@Test\b(?:(?!@Test\b).)*?\bfunc (\w+)", text, re.DOTALL)}
        case ".c":
            return set(re.findall(r"^\s*RUN\((\w+)\);", text, re.MULTILINE))
        case ".py":
            return set(re.findall(r"^(?:async )?def (test_\w+)", text, re.MULTILINE))
        case _:
            return set()


# MARK: The comparison


def findings(root: Path) -> Iterator[str]:
    sources = [readme(root / "README.md"), header(root / "include/bellwire.h")]
    for source in sources:
        if not source.promises:
            yield f"{source.name}: it promises nothing: has its section another name?"
    known: dict[str, set[str]] = {}
    for page in PAGES:
        path = root / FOLDER / page
        if not path.exists():
            yield f"{page}: there is no such page"
            continue
        for group in groups(path):
            where = f"{page}:{group.line}"
            for quotation in group.quotations:
                found = [
                    (source, match.span())
                    for source in sources
                    for match in re.finditer(re.escape(quotation), source.text)
                ]
                if len(found) != 1:
                    yield f"{where}: the README and the header say this {len(found)} times, not once: {quotation[:200]}"
                for source, span in found:
                    source.quoted.append(span)
            for text in group.unreadable:
                yield f"{where}: not a file and tests, as in `Tests/FILE`: `NAME`, `NAME`: {text[:200]}"
            if not group.tests:
                yield f"{where}: no test"
            for file, name in group.tests:
                if file not in known:
                    known[file] = names(root / file) if (root / file).is_file() else set()
                if name not in known[file]:
                    yield f"{where}: {file} has no test {name}"
    for source in sources:
        for text in dict.fromkeys(source.unquoted()):
            yield f"{source.name}: no page names a test for: {text}"


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = list(findings(root))
    for line in found:
        print(line)
    print(f"{len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
