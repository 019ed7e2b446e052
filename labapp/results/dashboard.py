"""The one Dash app of this process, made at its first use: other pages do not pay for importing Dash."""

from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from dash import Dash

PREFIX = "/results/"


@cache
def results_app() -> "Dash":
    """The app over the database; stateless, so every web worker has its own and any of them may answer."""
    from frontend.dashboards.results import create_results_app
    from labapp.results.queries import DatabaseQueries

    return create_results_app(DatabaseQueries(), PREFIX, settings.CSRF_COOKIE_NAME)
