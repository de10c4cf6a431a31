#!/usr/bin/env python3
"""Writes the documentation as it is installed: Markdown whose links work in any viewer.

    pages.py --root DIR --output DIR

    --root DIR     the checkout
    --output DIR   share/doc/bellwire: gets README.md, and documentation/ with the pages and what they show

DocC's links, <doc:Page#Section>, become links to files, with the title of the page or section; its directives go. Links of
the README to files that are not installed become their text.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

CATALOGUE = "Sources/Library/CABI/Bellwire.docc"
PAGES = "documentation"


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Changes a Markdown text where it is neither a block nor a span of code."""
    parts = re.split(r"(^ *```.*?^ *```[^\n]*$|`+[^`]+`+)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if index % 2 else change(part) for index, part in enumerate(parts))


def headings(text: str) -> list[str]:
    """The headings of a page, its title first."""
    without_code = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [line.strip() for line in re.findall(r"^#+ (.*)$", without_code, re.MULTILINE)]


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub and most viewers make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def plain(text: str) -> str:
    """What two ways to write an anchor have in common."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


class Catalogue:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pages = {path.stem: path.read_text() for path in sorted(folder.glob("*.md"))}
        self.files = [path for path in sorted(folder.iterdir()) if path.is_file() and path.suffix != ".md"]

    def link(self, page: str, section: str | None) -> str:
        """A link between pages: what <doc:PAGE#SECTION> becomes."""
        if page not in self.pages:
            raise SystemExit(f"pages.py: there is no page {page}")
        found = headings(self.pages[page])
        if section is None:
            return f"[{found[0]}]({page}.md)"
        title = next((each for each in found if plain(each) == plain(section)), None)
        if title is None:
            raise SystemExit(f"pages.py: {page} has no section {section}")
        return f"[{title}]({page}.md#{anchor(title)})"

    def image(self, name: str) -> str:
        """The file of an image, which DocC names without its end."""
        return next((file.name for file in self.files if name in (file.stem, file.name)), name)

    def page(self, name: str) -> str:
        text = re.sub(r"^@\w+ \{\n(?:.*\n)*?\}\n\n?", "", self.pages[name], flags=re.MULTILINE)

        def change(part: str) -> str:
            part = re.sub(r"<doc:([\w-]+)(?:#([\w-]+))?>", lambda each: self.link(each[1], each[2]), part)
            return re.sub(r"(!\[[^\]]*\])\(([\w-]+)\)", lambda each: f"{each[1]}({self.image(each[2])})", part)

        return outside_code(text, change)


def readme(text: str) -> str:
    """The README beside the pages."""

    def change(part: str) -> str:
        part = re.sub(rf"\]\({CATALOGUE}/([\w-]+\.md(?:#[\w-]+)?)\)", rf"]({PAGES}/\1)", part)
        # A picture alone in a line goes, and so does a table of pictures.
        part = re.sub(r"^!\[[^\]]*\]\([^)]*\)\n\n?", "", part, flags=re.MULTILINE)
        part = re.sub(r"^\|[^\n]*\|\n\|[-|]*\|\n\| !\[[^\n]*\n\n?", "", part, flags=re.MULTILINE)
        local = re.compile(rf"(?<!!)\[([^\]]*)\]\((?!https?://|#|{PAGES}/)[^)]*\)")
        return local.sub(r"\1", part)

    return outside_code(text, change)


def write(root: Path, output: Path) -> None:
    catalogue = Catalogue(root / CATALOGUE)
    folder = output / PAGES
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in catalogue.pages:
        (folder / f"{name}.md").write_text(catalogue.page(name))
    for file in catalogue.files:
        shutil.copyfile(file, folder / file.name)
    (output / "README.md").write_text(readme((root / "README.md").read_text()))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    write(options.root, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
