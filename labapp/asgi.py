"""ASGI entry: HTTP by Django, websockets by the apps' ``websocket_urlpatterns``, refused to foreign origins."""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labapp.settings.dev")


async def no_such_socket(scope: Any, receive: Any, send: Any) -> None:
    """Refuses a websocket at an address that there is not."""
    await receive()
    await send({"type": "websocket.close", "code": 4404, "reason": "there is no such socket"})


def build() -> Any:
    from labapp.handler import http_application

    http = http_application()  # sets Django up; what follows imports models
    from channels.auth import AuthMiddlewareStack
    from channels.routing import ProtocolTypeRouter, URLRouter
    from django.urls import re_path

    from labapp.origins import AllowedOriginValidator
    from labapp.urls import websocket_urlpatterns

    sockets = AllowedOriginValidator(
        AuthMiddlewareStack(URLRouter([*websocket_urlpatterns, re_path("", no_such_socket)]))
    )
    return ProtocolTypeRouter({"http": http, "websocket": sockets})


application = build()
