"""The server process: one socket on 127.0.0.1, one token a start, an orderly stop."""

from __future__ import annotations

import secrets
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from warehouse.errors import SaberError

ADDRESS = "127.0.0.1"


def new_token() -> str:
    """Return a random token of 256 bits, safe in a URL."""
    return secrets.token_urlsafe(32)


def listen(port: int) -> socket.socket:
    """Listen at a port of 127.0.0.1, before anything is printed.

    Parameters
    ----------
    port
        Port from 0 to 65535; 0 takes a free one.

    Raises
    ------
    SaberError
        When the port is taken or may not be bound.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # Without it a restart would wait for the old connections to time out.
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((ADDRESS, port))
        # Whoever opens the address the moment it is printed waits for the server instead of being turned away.
        bound.listen()
    except OSError as error:
        bound.close()
        raise SaberError(f"Port {port} of {ADDRESS} cannot be used: {error.strerror}. Name one: --port N") from error
    return bound


def make_server(app: ASGIApp) -> uvicorn.Server:
    """Return the server; it keeps no log of addresses, since one of them holds the token."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=5,
    )
    return uvicorn.Server(config)


def serve(app: ASGIApp, bound: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM; requests under way are answered first."""
    with _terminated_as_interrupted():
        try:
            make_server(app).run(sockets=[bound])
        except KeyboardInterrupt:
            return


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    # The server hands a signal on once it has stopped; SIGTERM would then kill the process before the job's
    # end has landed.
    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
