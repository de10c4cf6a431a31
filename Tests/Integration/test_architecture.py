"""The architecture page names what a push really passes through: callgrind follows one, on the release library."""

from __future__ import annotations

import re

from paths import measure
from programs import ROOT, STAGE

PAGE = (ROOT / "Sources/Library/CABI/Bellwire.docc/Architecture.md").read_text()
#: Where the code is that a push is about. What every byte and every call passes through is elsewhere.
OWN = re.compile(r"Sources/(?:Roles/(?:Desktop|Device|Peering)|Features/(?:Delivery|History|Inbox)|System/Sharing)/")
#: A file with so many executed lines is one that the page has to name.
LARGE = 30


def named() -> set[str]:
    """The files of the types in the table, by their names; `(in …)` names the file of a type that shares one."""
    table = PAGE.split("These types handle a push")[1].split("\n## ")[0]
    types = re.sub(r"`\w+` \(in `(\w+)\.swift`\)", r"`\1`", table)
    return {f"{name}.swift" for name in re.findall(r"`(\w+)`", types)}


def test_the_page_names_the_types_that_a_push_passes_with_and_without_sharing() -> None:
    passages = measure(STAGE)
    assert set(passages) == {"push", "unshared-push", "command", "pairing"}
    for name, passage in passages.items():
        print(f"{name}: {len(passage.lines)} files, {len(passage.substantive)} of them with 15 lines or more")
    files = {file.rsplit("/", 1)[1] for file in passages["push"].lines}
    assert named() - files == set(), "named, and no push passes it"
    large = {
        file.rsplit("/", 1)[1]
        for way in ("push", "unshared-push")
        for file, lines in passages[way].lines.items()
        if lines >= LARGE and OWN.match(file)
    }
    assert large and large - named() == set(), "a push passes it, and the page doesn't name it"
