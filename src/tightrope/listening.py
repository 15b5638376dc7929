"""What the servers of this package share: a socket that is theirs from the start, and a word when they answer."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from .core.values.errors import InvalidParameter

PORT_LAST = (1 << 16) - 1  # of a larger number the system would take the last 16 bits


def listening_at(host: str, port: int) -> socket.socket:
    """A socket at this address; port 0 is any that is free."""
    if not 0 <= port <= PORT_LAST:
        raise InvalidParameter(f"a port is a number from 0 to {PORT_LAST}, not {port}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise InvalidParameter(f"{host:.100} cannot be listened at: {_why(error)}") from None
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(address)
    except OSError as error:
        sock.close()
        raise InvalidParameter(
            f"port {port} of {host:.100} cannot be used ({_why(error)}): take another, or 0 for any that is free"
        ) from None
    return sock


def _why(error: Exception) -> object:
    return getattr(error, "strerror", None) or error


class TellingServer(uvicorn.Server):
    """Tells when it can be asked."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and not self.should_exit:
            self._ready()
