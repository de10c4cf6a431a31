"""Links of pages in Markdown, followed as a viewer does."""

from __future__ import annotations

import re
from pathlib import Path


def text_of(page: Path) -> str:
    """A page without its code."""
    text = re.sub(r"^ *```.*?^ *```[^\n]*$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`+[^`]+`+", "", text)


def anchors(page: Path) -> set[str]:
    """The anchors of its headings, as GitHub makes them: the second of two equal ones has a number."""
    text = re.sub(r"^ *```.*?^ *```[^\n]*$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        slug = re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")
        numbered = (f"{slug}-{number}" for number in range(1, 100))
        found.add(slug if slug not in found else next(each for each in numbered if each not in found))
    return found


def broken_links(folder: Path) -> list[str]:
    """What the pages below a folder refer to that is not there, or outside; and what is not Markdown."""
    broken: list[str] = []
    pages = sorted(folder.rglob("*.md"))
    assert pages, folder
    for page in pages:
        text = text_of(page)
        broken += [f"{page.name}: {each}" for each in re.findall(r"<doc:[^>]*>|^@\w+ \{", text, re.MULTILINE)]
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"https?://", target):
                continue
            name, _, section = target.partition("#")
            file = (page.parent / name).resolve() if name else page
            is_there = file.is_file() and file.is_relative_to(folder.resolve())
            if not is_there or (section and section not in anchors(file)):
                broken.append(f"{page.name}: {target}")
    return broken
