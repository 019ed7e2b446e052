"""Websocket handshakes from pages of other sites are refused with 403, and the log names the origin."""

import logging
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import validate_host

logger = logging.getLogger(__name__)


def header(scope: dict[str, Any], name: bytes) -> str:
    return next((value.decode("latin1") for key, value in scope.get("headers", []) if key == name), "")


class AllowedOriginValidator:
    """Passes handshakes whose Origin is an allowed host.

    A browser always sends Origin. A client that sends none is no browser (an agent or a script): it is passed on, but
    only without cookies, so that a session can never be used from outside a page of ours.
    """

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        origin = header(scope, b"origin")
        is_allowed = self.is_allowed(origin) if origin else not header(scope, b"cookie")
        if is_allowed:
            return await self.application(scope, receive, send)
        logger.warning("Websocket %s refused: foreign origin %r", scope.get("path"), origin or "(none)")
        return await WebsocketDenier()(scope, receive, send)

    @staticmethod
    def is_allowed(origin: str) -> bool:
        host = urlsplit(origin).hostname
        return bool(host) and validate_host(host, settings.ALLOWED_HOSTS)
