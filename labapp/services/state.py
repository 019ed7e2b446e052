"""What the embedded services leave under ``var/``: addresses (``services.json``) and secrets drawn once. No Django."""

import json
import os
import secrets
from pathlib import Path
from typing import Any

STATE_FILE = "services.json"
SECRETS_FILE = "secrets.json"


def write_private(path: Path, content: str) -> None:
    """Replace a file atomically; only its owner may read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
    temporary.replace(path)


def read_json(path: Path) -> dict[str, Any]:
    """The file's object, or an empty one when there is no file."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not valid JSON ({error}); delete it to start with new services.") from error


def keep_secret(var: Path, name: str) -> str:
    """A random secret, drawn at its first use and kept in ``var/secrets.json``."""
    path = var / SECRETS_FILE
    known = read_json(path)
    if name not in known:
        known[name] = secrets.token_urlsafe(48)
        write_private(path, json.dumps(known, indent=1))
    return known[name]


def read_addresses(var: Path) -> dict[str, str]:
    """DATABASE_URL, REDIS_URL and S3_* of the embedded services, as far as they have been started."""
    return read_json(var / STATE_FILE).get("addresses", {})


def write_state(var: Path, state: dict[str, Any]) -> None:
    write_private(var / STATE_FILE, json.dumps(state, indent=1))
