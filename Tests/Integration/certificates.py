"""A private certificate authority and certificates for the TLS tests, made with the openssl program."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path


class Authority:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.file = directory / "ca.pem"
        self._openssl(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=Bellwire test CA", "-keyout", "ca.key", "-out", "ca.pem",
        )  # fmt: skip

    def issue(self, name: str, *alternatives: str, days: int = 2) -> tuple[Path, Path]:
        """Certificate and key for these names, as `DNS:localhost` or `IP:127.0.0.1`."""
        (self.directory / f"{name}.ext").write_text(f"subjectAltName={','.join(alternatives)}\n")
        self._openssl(
            "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-keyout", f"{name}.key", "-out", f"{name}.csr",
        )  # fmt: skip
        self._openssl(
            "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", str(days), "-extfile", f"{name}.ext", "-out", f"{name}.pem",
        )  # fmt: skip
        return self.directory / f"{name}.pem", self.directory / f"{name}.key"

    def server(self, name: str, *alternatives: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue(name, *alternatives))
        return context

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.directory, check=True, capture_output=True)
