"""ASGI entry: HTTP by Django, websockets by the apps' ``websocket_urlpatterns``, refused to foreign origins."""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labapp.settings.dev")


def build() -> Any:
    from labapp.handler import http_application

    http = http_application()  # sets Django up; what follows imports models
    from channels.auth import AuthMiddlewareStack
    from channels.routing import ProtocolTypeRouter, URLRouter

    from labapp.origins import AllowedOriginValidator
    from labapp.urls import websocket_urlpatterns

    sockets = AllowedOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))
    return ProtocolTypeRouter({"http": http, "websocket": sockets})


application = build()
