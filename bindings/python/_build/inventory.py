"""What a delivery has inside: its SBOM (SPDX 2.3, JSON) and the licences of its parts.

    inventory.py --name NAME --version VERSION --output DIR [--linked FILE]... LIBRARY...

    --output DIR    where NAME.spdx.json and licences/ go
    --linked FILE   lists what a linker has read: a path a line, also "archive.a(member.o)"
    LIBRARY         further archives and shared libraries that are inside

Each file belongs to a package of the machine, or to the Swift toolchain: from there come version and licence.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Optional

#: By the source package; SPDX expressions of what is linked or shipped, not of the tools in the same source.
LICENCES = {
    "swift": "Apache-2.0 WITH Swift-exception",
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "http-parser": "MIT",
    "jansson": "MIT",
    "libuv1": "MIT",
    "wslay": "MIT",
    "libsodium": "ISC",
    "sqlite3": "blessing",
    "qrencode": "LGPL-2.1-or-later",
    "openssl": "Apache-2.0",
    "zbar": "LGPL-2.1-or-later",
    "libpng1.6": "libpng-2.0",
    "libjpeg-turbo": "IJG AND BSD-3-Clause AND Zlib",
    "zlib": "Zlib",
    "dbus": "AFL-2.1 OR GPL-2.0-or-later",
    "v4l-utils": "LGPL-2.1-or-later",
    "systemd": "LGPL-2.1-or-later",
    "libbsd": "BSD-3-Clause",
    "libcap2": "BSD-3-Clause OR GPL-2.0-only",
    "libgcrypt20": "LGPL-2.1-or-later",
    "libgpg-error": "LGPL-2.1-or-later",
    "libmd": "BSD-3-Clause AND BSD-2-Clause",
    "libx11": "MIT",
    "libxau": "MIT",
    "libxcb": "MIT",
    "libxdmcp": "MIT",
    "libzstd": "BSD-3-Clause OR GPL-2.0-only",
    "lz4": "BSD-2-Clause",
    "xz-utils": "LicenseRef-public-domain",
}


@dataclass(frozen=True)
class Component:
    name: str
    version: str
    licence: str
    #: The texts of its licences, on this machine.
    text: Path
    #: What of it is inside.
    files: tuple[str, ...] = ()

    @property
    def spdx(self) -> dict[str, Any]:
        return {
            "SPDXID": f"SPDXRef-{re.sub(r'[^A-Za-z0-9.-]', '-', self.name)}",
            "name": self.name,
            "versionInfo": self.version,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": self.licence,
            "licenseDeclared": self.licence,
            "copyrightText": "NOASSERTION",
            **({"comment": f"inside: {', '.join(self.files)}"} if self.files else {}),
        }


class Unknown(Exception):
    """A file that belongs to nothing known."""


def toolchain() -> Optional[Path]:
    """The root of the Swift toolchain, with bin and lib below."""
    swiftc = shutil.which("swiftc")
    return Path(os.path.realpath(swiftc)).parents[1] if swiftc else None


def component(file: Path) -> Component:
    """The component that a library comes from."""
    file = Path(os.path.realpath(file))
    swift = toolchain()
    if swift and file.is_relative_to(swift / "lib"):
        said = subprocess.run(["swiftc", "--version"], capture_output=True, text=True, check=True).stdout
        version = re.search(r"Swift version (\S+)", said)
        text = swift / "share/swift/LICENSE.txt"
        return Component("swift", version.group(1) if version else "NOASSERTION", LICENCES["swift"], text)
    # A merged /usr: the package may know the file by its older path.
    paths = [str(file), str(file).removeprefix("/usr")]
    for path in paths:
        owner = subprocess.run(["dpkg-query", "--search", path], capture_output=True, text=True, check=False).stdout
        if owner:
            break
    else:
        raise Unknown(f"no package has {file}")
    package = owner.split(": ")[0].split(",")[0]
    shown = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${source:Package} ${Version}", package],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    source, version_text = shown.split()
    source = re.sub(r"^gcc-\d+$", "gcc", source)
    text = Path("/usr/share/doc", package.split(":")[0], "copyright")
    return Component(source, version_text, LICENCES.get(source, "NOASSERTION"), text)


def linked(lines: str) -> list[Path]:
    """The archives among what a linker has read: of a shared library nothing is inside."""
    found = {re.sub(r"\(.*\)$", "", line.strip()) for line in lines.splitlines()}
    return sorted(Path(path) for path in found if path.endswith(".a"))


def components(files: list[Path], ours: Path) -> list[Component]:
    """The components of the files, each once, by name. Files below `ours` are the project's."""
    found: dict[str, Component] = {}
    for file in files:
        if not Path(os.path.realpath(file)).is_relative_to(ours):
            part = component(file)
            before = found.get(part.name, part)
            found[part.name] = replace(before, files=tuple(sorted({*before.files, file.name})))
    return [found[name] for name in sorted(found)]


def document(name: str, version: str, parts: list[Component], created: int) -> dict[str, Any]:
    """The SBOM. Two builds of one commit with the same packages give the same bytes."""
    own = Component(name, version, "MIT", Path()).spdx
    moment = subprocess.run(
        ["date", "-u", "-d", f"@{created}", "+%Y-%m-%dT%H:%M:%SZ"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name}-{version}",
        "documentNamespace": f"urn:bellwire:{name}:{version}:{created}",
        "creationInfo": {"created": moment, "creators": ["Organization: The Bellwire authors"]},
        "hasExtractedLicensingInfos": [
            {"licenseId": "LicenseRef-public-domain", "extractedText": "In the public domain; see its copyright file."}
        ],
        "packages": [own, *(part.spdx for part in parts)],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]},
            *(
                {
                    "spdxElementId": own["SPDXID"],
                    "relationshipType": "CONTAINS",
                    "relatedSpdxElement": part.spdx["SPDXID"],
                }
                for part in parts
            ),
        ],
    }


def write(name: str, version: str, parts: list[Component], output: Path, created: int) -> None:
    """Writes the SBOM and the licences of the parts. A part without a known licence is an error."""
    unknown = [part.name for part in parts if part.licence == "NOASSERTION"]
    if unknown:
        raise Unknown(f"LICENCES has no entry for {', '.join(unknown)}")
    licences = output / "licences"
    shutil.rmtree(licences, ignore_errors=True)
    licences.mkdir(parents=True)
    for part in parts:
        shutil.copyfile(part.text, licences / f"{part.name}.txt")
        # Debian's copyright files name the long ones, which every system of theirs has.
        for common in set(
            re.findall(r"/usr/share/common-licenses/([A-Za-z]+(?:-[0-9.]*[0-9])?)", part.text.read_text())
        ):
            file = Path("/usr/share/common-licenses", common)
            if file.exists():
                shutil.copyfile(file, licences / f"{common}.txt")
    text = json.dumps(document(name, version, parts, created), indent=1, sort_keys=True) + "\n"
    (output / f"{name}.spdx.json").write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--ours", type=Path, default=Path.cwd())
    parser.add_argument("--linked", type=Path, action="append", default=[])
    parser.add_argument("libraries", type=Path, nargs="*")
    options = parser.parse_args()
    files = [*options.libraries, *(path for file in options.linked for path in linked(file.read_text()))]
    try:
        parts = components(files, options.ours.resolve())
        write(options.name, options.version, parts, options.output, int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    except (Unknown, OSError) as error:
        print(f"inventory.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
