"""Tests/texts.py finds each bad pattern in everything that a user reads, and only there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from programs import ROOT

sys.path.insert(0, str(ROOT / "Tests"))
import texts

BAD = "The digits are burnt."
GOOD = "The digits are void."
#: A file of each kind that is read, with a sentence where a user meets it, and one where nobody does.
FILES = {
    "README.md": ("{}\n", "`{}`\n\n```sh\n# {}\n```\n"),
    "bindings/python/README.md": ("- one\n- {}\n", "```python\n# {}\n```\n"),
    "Sources/Library/CABI/Bellwire.docc/Errors.md": ("| a | b |\n|---|---|\n| c | {} |\n", "`{}`\n"),
    "Tests/Support/Quality/FaultsInTests.md": ("{}\n", "`{}`\n"),
    "include/bellwire.h": ("/* Words.\n * {} */\nint f(void);\n", 'static const char *text = "{}";\n'),
    "Sources/Module/File.swift": ('let text = "{}"\n', "/// {}\nlet a = 1 // {}\n"),
    "Sources/Module/Long.swift": ('let text = """\n    First, \\\n    {}\n    """\n', "/* {} */\n"),
    "Sources/C/COnDemand/File.c": ('f("{}");\n', "/* {} */\n"),
    "examples/tray/main.c": ('f("{}");\n', "// {}\n"),
    ".github/SECURITY.md": ("- {}\n", "`{}`\n"),
    "bindings/systemd/relay.conf": ("# {}\n", 'OPTIONS="{}"\n'),
    "bindings/c/build.sh": ("#!/bin/sh\n# Words.\n# {}\nset -e\n", "#!/bin/sh\n# Words.\nset -e\n# {}\n"),
    "bindings/python/src/bellwire/device.py": ('"""{}"""\n', "# {}\n"),
}


def lint(root: Path) -> list[str]:
    return list(texts.findings(root))


@pytest.mark.parametrize("name", FILES)
def test_a_bad_text_is_found_where_a_user_reads_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    read, unread = FILES[name]
    path.write_text(read.replace("{}", BAD))
    (found,) = lint(tmp_path)
    assert found.startswith(f"{name}:") and "burnt" in found
    path.write_text(read.replace("{}", GOOD) + unread.replace("{}", BAD))
    assert lint(tmp_path) == []


@pytest.mark.parametrize("rule", texts.RULES, ids=lambda rule: rule.bad)
def test_each_rule_finds_its_bad_sample_and_not_its_good_one(rule: texts.Rule, tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"{rule.bad}\n")
    assert lint(tmp_path)
    page.write_text(f"{rule.good}\n")
    assert lint(tmp_path) == []


def test_the_line_of_a_finding_is_right(tmp_path: Path) -> None:
    (tmp_path / "Sources").mkdir()
    (tmp_path / "Sources/File.swift").write_text(
        '// one\n/* two\n   three */\nlet url = "ws://here or"\nlet text = "is no file"\n'
    )
    (found,) = lint(tmp_path)
    assert found.startswith("Sources/File.swift:5: ")


def test_a_finding_is_exit_code_1(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "Tests/texts.py"), str(tmp_path)]
    (tmp_path / "README.md").write_text(BAD)
    bad = subprocess.run(command, capture_output=True, check=False, text=True)
    assert bad.returncode == 1
    assert bad.stdout.startswith("README.md:1: ") and bad.stdout.endswith("\n1 findings\n")
    (tmp_path / "README.md").write_text(GOOD)
    good = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (good.returncode, good.stdout) == (0, "0 findings\n")
