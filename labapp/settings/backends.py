"""Addresses of PostgreSQL, Redis and the object store, as Django, Celery, Channels and the storage module want them.

The environment wins; otherwise the addresses are those that the embedded services wrote to ``var/services.json``.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from labapp.services.state import read_addresses
from labapp.settings import env

# Nothing listens on port 1: a command that needs a service says "connection refused" when none was started.
NOT_STARTED = {
    "DATABASE_URL": "postgresql://groundlab@127.0.0.1:1/groundlab",
    "REDIS_URL": "redis://127.0.0.1:1/0",
    "S3_ENDPOINT": "http://127.0.0.1:1",
    "S3_ACCESS_KEY": "not-started",
    "S3_SECRET_KEY": "not-started",
    "S3_BUCKET": "groundlab",
}


# Channels waits for messages 5 s at a time; redis-py gives up on a silent socket after 5 s unless told otherwise, which
# would end every quiet websocket. With any timeout it sends through asyncio.wait_for, which in Python 3.11 can lose a
# cancellation: a websocket that closes at once would then never end. So: none, and the system's keepalive instead.
PATIENT_SOCKET = {"socket_timeout": None, "socket_keepalive": True}

DATABASE_WAIT_S = 5  # for a connection: a page says that the database is away, and does not wait for it twice


@dataclass(frozen=True)
class ObjectStore:
    endpoint: str
    access_key: str
    secret_key: str
    bucket: str
    retry_seconds: float


def addresses(var: Path) -> dict[str, str]:
    """The six addresses, each from the environment, else from the embedded services' state file."""
    known = NOT_STARTED | read_addresses(var)
    return {name: env.secret(name, known[name]) for name in NOT_STARTED}


def database(url: str) -> dict[str, Any]:
    """``postgresql://user:password@host:port/name?option=value`` as a Django database."""
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured(f"DATABASE_URL starts with {parts.scheme!r}; only postgresql:// is supported.")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"connect_timeout": DATABASE_WAIT_S} | dict(parse_qsl(parts.query)) | pool(),
    }


def pool() -> dict[str, Any]:
    """``DATABASE_POOL`` connections that the web server's threads share; commands and workers have one thread and none.

    Under ASGI each request has a thread of its own: without a pool each would open, and PostgreSQL fork, a connection.
    The pool's pauses between its tries double until it gives up: it does so soon, and tries at the next request.
    """
    size = int(env.number("DATABASE_POOL", 0))
    waits = {"timeout": DATABASE_WAIT_S, "reconnect_timeout": DATABASE_WAIT_S}
    return {"pool": {"min_size": 2, "max_size": size, **waits}} if size else {}


def object_store(known: dict[str, str]) -> ObjectStore:
    return ObjectStore(
        endpoint=known["S3_ENDPOINT"],
        access_key=known["S3_ACCESS_KEY"],
        secret_key=known["S3_SECRET_KEY"],
        bucket=known["S3_BUCKET"],
        retry_seconds=env.number("S3_RETRY_SECONDS", 300.0),
    )


def backend_settings(known: dict[str, str], prefix: str = "groundlab") -> dict[str, Any]:
    """Every setting that depends on where the three services are; ``prefix`` sets keys in Redis apart."""
    redis_url = known["REDIS_URL"]
    return {
        "DATABASES": {"default": database(known["DATABASE_URL"])},
        "REDIS_URL": redis_url,
        "CELERY_BROKER_URL": redis_url,
        "CELERY_BROKER_TRANSPORT_OPTIONS": {
            "visibility_timeout": 12 * 3600,
            "global_keyprefix": f"{prefix}:",
            "socket_connect_timeout": 5,
        },
        "CACHES": {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": redis_url}},
        "CHANNEL_LAYERS": {
            "default": {
                "BACKEND": "channels_redis.core.RedisChannelLayer",
                "CONFIG": {
                    "hosts": [{"address": redis_url, **PATIENT_SOCKET}],
                    "prefix": f"{prefix}-channels",
                    "capacity": 200,
                    "expiry": 30,
                },
            }
        },
        "OBJECT_STORE": object_store(known),
    }
