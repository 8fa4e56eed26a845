"""`calligram serve`: the proxy on a socket, until it is told to stop."""

from __future__ import annotations

import ipaddress
import logging
import socket
from urllib.parse import urlsplit

import uvicorn
from starlette.types import ASGIApp

from ..compiler.errors import reason_of
from ..off import disabled
from .app import make_app
from .front import FrontProtocol
from .log import Log, LogHandler
from .service import make_service
from .settings import Settings, unknown_variables
from .settings_error import SettingsError

GRACE = 10
"""Seconds that answers under way get when the proxy is told to stop."""


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        SettingsError: the address cannot be listened at (code ``proxy-address``).
        SpecError: the dialect that is named cannot be read.
    """
    log = Log(style=settings.log)
    service = make_service(settings, log)
    listening = listen(settings.host, settings.port)
    host, port = listening.getsockname()[:2]
    if leads_to(settings.upstream, host, port):
        listening.close()
        message = f"the upstream {settings.upstream} is the address that the proxy listens at"
        raise SettingsError.at("proxy-address", message, hint="another --upstream, or --port")
    shown = f"[{host}]" if ":" in host else host
    log.write(
        "listening",
        address=f"http://{shown}:{port}",
        upstream=settings.upstream,
        dialect=settings.dialect,
        disabled=disabled() or None,
    )
    for problem in unknown_variables():
        fields = {k: v for k, v in problem.to_json().items() if k not in ("severity", "file")}
        log.write("setting", "warning", **fields)
    logging.getLogger().addHandler(LogHandler(log))
    try:
        server_of(make_app(service)).run(sockets=[listening])
    finally:
        listening.close()
    log.write("stopped")


def leads_to(url: str, host: str, port: int) -> bool:
    """Is `url` at this address of ours? A name that cannot be resolved yet is not."""
    parts = urlsplit(url)
    theirs = parts.port or (443 if parts.scheme == "https" else 80)
    if theirs != port or parts.hostname is None:
        return False
    try:
        found = socket.getaddrinfo(parts.hostname, theirs, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    here = ipaddress.ip_address(host)
    there = [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in found]
    return any(a == here or (here.is_unspecified and a.is_loopback) for a in there)


def server_of(app: ASGIApp) -> uvicorn.Server:
    """A server that adds nothing of its own to what it sends."""
    config = uvicorn.Config(
        app,
        http=FrontProtocol,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE,
        # Longer than clients keep theirs: a request on a connection that is just being closed is
        # lost to them.
        timeout_keep_alive=75,
    )
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        SettingsError: it cannot.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        message = f"cannot listen at {host}:{port}: {reason_of(error)}"
        raise SettingsError.at("proxy-address", message) from None
