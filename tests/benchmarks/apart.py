"""Benchmarks of the web side measure in a process of their own, on services of their own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def measure_apart(module: str, name: str, bar: float, **environ: str) -> list[dict[str, Any]]:
    """``python -m module --measure FOLDER`` prints its rows as JSON; a failure is a row that missed its bar.

    Unless DATABASE_URL names a server for benchmarks, PostgreSQL, Redis and S3 are scratch ones in FOLDER.
    """
    with tempfile.TemporaryDirectory(prefix="groundlab-bench-") as folder:
        defaults = {"GROUNDLAB_VAR": folder, "DJANGO_SETTINGS_MODULE": "labapp.settings.test"}
        command = [sys.executable, "-m", module, "--measure", folder]
        done = subprocess.run(command, env=os.environ | defaults | environ, capture_output=True, text=True, check=False)
    if done.returncode:
        detail = done.stderr.strip().splitlines()[-1:] or ["no message"]
        return [{"name": name, "value": None, "bar": bar, "ok": False, "detail": detail[0]}]
    return json.loads(done.stdout.splitlines()[-1])


@contextmanager
def scratch_database(folder: Path) -> Iterator[None]:
    """Django on an empty, migrated database."""
    from labapp.services.embedded import EmbeddedServices

    services = EmbeddedServices(folder, durable=False)
    services.up(lambda line: None)
    try:
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        yield
    finally:
        services.down(lambda line: None)
