"""Trials with a real recording, as the agent would have sent it."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from labapp.live import uploads
from labapp.live.trials import events_store
from labapp.studies.models import Trial
from robots.agent.protocol import TrialEvent
from tests.labapp.made import episodes_folder

VIEWS = ("head", "right_wrist", "left_wrist")


def recorded(trial: Trial, folder: Path, *, views: tuple[str, ...] = VIEWS, rows: int = 30) -> Trial:
    """Send a small real recording of the trial: one episode with its videos."""
    root = episodes_folder(folder / str(trial.pk), n=1, views=views, rows=rows)
    files, videos = {}, {}
    for path in sorted(file for file in root.rglob("*") if file.is_file()):
        name, content = path.relative_to(root).as_posix(), path.read_bytes()
        files[name] = hashlib.sha256(content).hexdigest()
        uploads.episode_file_store(trial=trial, path=name, sha256=files[name], chunks=[content])
        if path.suffix == ".mp4":
            videos[path.relative_to(root).parts[1].removeprefix("observation.images.")] = name
    return uploads.episode_complete(trial=trial, files=files, videos=videos)


def happened(trial: Trial, *events: tuple[str, float, dict]) -> None:
    """Events in the order in which the agent counted them."""
    rows = [
        TrialEvent(str(trial.pk), str(uuid4()), number, kind, time_s, payload)
        for number, (kind, time_s, payload) in enumerate(events, start=1)
    ]
    events_store(trial_id=trial.pk, events=rows)


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., Trial]:
    def make(trial: Trial, **values) -> Trial:
        return recorded(trial, tmp_path, **values)

    return make
