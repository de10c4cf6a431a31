"""Tests/promises.py finds each way in which a promise and its tests can drift apart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from programs import ROOT

sys.path.insert(0, str(ROOT / "Tests"))
import promises

README = """# Bellwire

## Security

- **Keys.** Each key is new ([the page](Page.md) has
  the details). `--flag` shows it.
- **Relay.** It fills in the sender.

Known limits:

- **Old peers.** They are not encrypted. Nobody can forge the
  others.

## Later

It never rains.
"""

HEADER = """/*
 * bellwire.h - a header.
 *
 * Handles   A handle is never used twice. A process
 *           may have some.
 */

/* Sets the name: at most 9 bytes, see *name. Since 0.1. */
int bw_name(const char *name);
"""

PAGE = """# Promises

Text that is not quoted.

“Each key is new (the page has the details). `--flag`
shows it.”
- `Tests/ATests/KeyTests.swift`: `isNew`, `isShown`
- `Tests/Integration/test_keys.py`:
  `test_a_key`

“It fills in the sender.” “Nobody can
forge the others.”
- `Tests/ABI/keys.c`: `a_key`
"""

HEADER_PAGE = """# More

“A handle is never used twice.”
- `Tests/ABI/keys.c`: `a_key`

“at most 9 bytes, see \\*name.”
- `Tests/ABI/keys.c`: `another_key`
"""

FILES = {
    "README.md": README,
    "include/bellwire.h": HEADER,
    f"{promises.FOLDER}/{promises.PAGES[0]}": PAGE,
    f"{promises.FOLDER}/{promises.PAGES[1]}": HEADER_PAGE,
    "Tests/ATests/KeyTests.swift": '@Test("a key, with func in its text") func isNew() {}\n'
    "@Test(\n    arguments: [1]) @MainActor\nfunc isShown(number: Int) {}\nfunc helper() {}\n",
    "Tests/Integration/test_keys.py": "def test_a_key() -> None:\n    pass\n\n\ndef helper() -> None:\n    pass\n",
    "Tests/ABI/keys.c": "int main(void)\n{\n    RUN(a_key);\n    RUN(another_key);\n}\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def found(tree: Path) -> list[str]:
    return list(promises.findings(tree))


def test_promises_with_their_tests_have_no_findings(tree: Path) -> None:
    assert found(tree) == []


PAGE_OF_THE_README, PAGE_OF_THE_HEADER = (f"{promises.FOLDER}/{page}" for page in promises.PAGES)

CHANGES = {
    "a reworded promise of the README": ("README.md", "Each key is new", "Every key is new", 2),
    "a new promise of the README": ("README.md", "the sender.\n", "the sender. It keeps nothing.\n", 1),
    "a promise that the README no longer makes": ("README.md", "- **Relay.** It fills in the sender.\n", "", 1),
    "a new denial among the limits": ("README.md", "not encrypted.", "not encrypted. Nobody can read the rest.", 1),
    "a section of another name": ("README.md", "## Security", "## Safety", 4),
    "a reworded promise of the header": ("include/bellwire.h", "never used twice", "never used three times", 2),
    "a new promise of the header": ("include/bellwire.h", "may have some", "may have every one", 1),
    "a second promise of the same words": ("include/bellwire.h", "Since 0.1.", "A handle is never used twice.", 1),
    "a quotation that was taken out": (PAGE_OF_THE_README, "“It fills in the sender.” “", "“", 1),
    "a quotation of half a promise": (PAGE_OF_THE_README, "`--flag`\nshows it.”", "”", 1),
    "a quotation without a test": (PAGE_OF_THE_HEADER, "- `Tests/ABI/keys.c`: `a_key`\n", "", 1),
    "text in place of a test": (PAGE_OF_THE_HEADER, "`Tests/ABI/keys.c`: `a_key`", "tested by hand", 2),
    "a page that is not there": (PAGE_OF_THE_HEADER, None, "", 3),
    "a test of Swift that was renamed": ("Tests/ATests/KeyTests.swift", "func isNew", "func isOld", 1),
    "a function of Swift that is no test": ("Tests/ATests/KeyTests.swift", "@Test(\n    arguments: [1]) ", "", 1),
    "a test of Python that was renamed": ("Tests/Integration/test_keys.py", "test_a_key", "test_keys", 1),
    "a test of C that is not run": ("Tests/ABI/keys.c", "    RUN(another_key);\n", "", 1),
    "a test of C in a comment": ("Tests/ABI/keys.c", "    RUN(another_key);", "    // RUN(another_key);", 1),
    "a file of tests that is gone": ("Tests/ATests/KeyTests.swift", None, "", 2),
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_found(change: str, tree: Path) -> None:
    name, old, new, count = CHANGES[change]
    path = tree / name
    if old is None:
        path.unlink()
    else:
        text = path.read_text()
        assert text.count(old) == 1
        path.write_text(text.replace(old, new))
    assert len(found(tree)) == count, found(tree)


def test_line_breaks_labels_and_links_are_no_changes(tree: Path) -> None:
    (tree / "README.md").write_text(
        README.replace("has\n  the details", "has the\n  details")
        .replace("Page.md", "Other.md")
        .replace("Relay", "Hub")
    )
    (tree / "include/bellwire.h").write_text(
        HEADER.replace("A process\n *           may", "A\n *           process may")
    )
    assert found(tree) == []


def test_a_finding_is_exit_code_1(tree: Path) -> None:
    command = [sys.executable, str(ROOT / "Tests/promises.py"), str(tree)]
    good = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (good.returncode, good.stdout) == (0, "0 findings\n")
    (tree / "Tests/ABI/keys.c").unlink()
    bad = subprocess.run(command, capture_output=True, check=False, text=True)
    assert bad.returncode == 1 and bad.stdout.endswith("\n3 findings\n")
    assert "has no test a_key" in bad.stdout
