"""``python -m labapp.services.machine``: what this machine lacks, and what does not run without it."""

import ctypes.util
import shutil
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def remarks() -> list[str]:
    found = []
    if not has_egl():
        found.append("No Mesa EGL: simulated cameras cannot render (Debian: apt-get install libegl1 libegl-mesa0).")
    if not any(shutil.which(name) for name in BROWSERS):
        found.append("No chromium: browser tests are skipped (Debian: apt-get install chromium).")
    return found


def has_egl() -> bool:
    """A driver must be registered with the dispatcher, the library alone renders nothing."""
    folders = (Path("/usr/share/glvnd/egl_vendor.d"), Path("/etc/glvnd/egl_vendor.d"))
    return ctypes.util.find_library("EGL") is not None and any(list(folder.glob("*.json")) for folder in folders)


if __name__ == "__main__":
    for line in remarks():
        print(line)
