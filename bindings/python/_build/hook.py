"""Adds the libraries that backend.py has gathered to the wheel, and says for which platform it is."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class LibraryHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        directory = os.environ.get("BELLWIRE_WHEEL_LIBRARIES")
        if version != "standard" or not directory:
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-linux_{platform.machine()}"
        for each in Path(directory).iterdir():
            build_data["force_include"][str(each)] = f"bellwire/_lib/{each.name}"
