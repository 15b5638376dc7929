"""The explorer as somebody starts it: `tightrope explore --no-browser`, its address read from its first line."""

from __future__ import annotations

import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

CLOSING_SECONDS = 300.0  # to end what hangs


class Served:
    """A server; page is its address with its token, without what the page shows."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tightrope", "explore", "--no-browser", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        parts = urlsplit(self.address)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.port = str(parts.port)
        self.token = parse_qs(parts.query)["token"][0]
        self.page = f"{self.origin}/?token={self.token}"

    def kill(self) -> None:
        """As an operating system does that has no memory left."""
        self._process.kill()
        self.close()

    def close(self) -> None:
        """Ends it, as Ctrl+C does."""
        self._process.terminate()
        self._process.wait(CLOSING_SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()
