"""All addresses. An app's ``urls`` module may offer three lists, with full paths from the root:

- ``urlpatterns`` (with ``app_name``): pages;
- ``api_urlpatterns``: mounted under ``/api/``, namespace ``api``;
- ``websocket_urlpatterns``: sockets.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from labapp.home.views import favicon, home

APPS = (
    "accounts",
    "media",
    "runs",
    "cells",
    "demos",
    "datasets",
    "policies",
    "studies",
    "evaluations",
    "live",
    "results",
)


def _load(app: str) -> ModuleType | None:
    name = f"labapp.{app}.urls"
    return import_module(name) if find_spec(name) else None


_modules = [module for app in APPS if (module := _load(app))]

api_urlpatterns = [pattern for module in _modules for pattern in getattr(module, "api_urlpatterns", [])]
websocket_urlpatterns = [pattern for module in _modules for pattern in getattr(module, "websocket_urlpatterns", [])]

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/schema/", login_not_required(SpectacularAPIView.as_view()), name="schema"),
    path("api/", include((api_urlpatterns, "api"))),
    *[path("", include(module)) for module in _modules if hasattr(module, "urlpatterns")],
    path("favicon.ico", favicon, name="favicon"),
    path("", home, name="home"),
]

handler400 = "labapp.errors.bad_request"
handler403 = "labapp.errors.permission_denied"
handler404 = "labapp.errors.not_found"
handler500 = "labapp.errors.server_error"
