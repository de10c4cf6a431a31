"""A pytest plugin: runs only the tests whose ids match a regular expression, as the filters of the other suites do.

pytest -p names --matching REGEX
"""

from __future__ import annotations

import re

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--matching", metavar="REGEX", help="run only tests whose ids match this regular expression")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if (pattern := config.getoption("--matching")) is None:
        return
    wanted = re.compile(pattern)
    left = [item for item in items if wanted.search(item.nodeid) is None]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item not in left]
